#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const error broken{errc::internal, "broken on purpose"};

struct splitting_fixture : actor_fixture {
  /// A request of `rows` rows whose values count up from 0.
  std::shared_ptr<job::impl> infer_counting(const std::string& name, std::int64_t rows) {
    auto asked = make(name, rows);
    const auto bytes = static_cast<std::size_t>(rows) * 2 * sizeof(float);
    auto block = allocate_aligned(bytes);
    for (std::int64_t i = 0; i < 2 * rows; ++i)
      reinterpret_cast<float*>(block.get())[i] = static_cast<float>(i);
    const auto* data = block.get();
    asked->request.inputs[0].value.data = {std::move(block), {data, bytes}};
    hand_on(*shared, shared->router, asked);
    scheduler.run();
    return asked;
  }

  std::vector<std::int64_t> runs() const { return work->run_rows; }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(requests_larger_than_a_batch, splitting_fixture)

BOOST_AUTO_TEST_CASE(are_split_and_answered_once_with_their_rows_in_order) {
  start(latency, 4);
  infer_counting("big", 10);
  work_once();
  work_once();
  BOOST_TEST(outcome("big") == "");
  work_once();
  BOOST_REQUIRE(outcome("big") == "ok");
  BOOST_TEST((runs() == std::vector<std::int64_t>{4, 4, 2}));
  const auto& y = answers.at("big")->outputs.at(0).value;
  BOOST_TEST((y.dims == shape{10, 2}));
  for (std::size_t i = 0; i < 20; ++i)
    BOOST_TEST(elements_of<float>(y.data)[i] == static_cast<float>(i));
  BOOST_TEST(answers.at("big")->id == "big");
}

BOOST_AUTO_TEST_CASE(fill_batches_together_with_others) {
  start(latency, 4);
  infer("first");
  infer_counting("big", 6);
  infer("small", 2);
  while (work_once()) {
  }
  BOOST_TEST(outcome("big") == "ok");
  BOOST_TEST(outcome("small") == "ok");
  BOOST_TEST((runs() == std::vector<std::int64_t>{1, 4, 4}));
}

BOOST_AUTO_TEST_CASE(fail_with_the_first_error_and_run_no_further) {
  start(latency, 4);
  infer_counting("big", 20);
  work_once(broken);
  BOOST_TEST(outcome("big") == ""); // its first part runs again
  work_once();                      // the second was on the device already
  work_once(broken);
  BOOST_TEST(outcome("big") == "INTERNAL");
  while (work_once()) {
  }
  BOOST_TEST(runs().size() < 5u);
}

BOOST_AUTO_TEST_CASE(leave_the_queue_with_all_their_parts_when_they_are_cancelled) {
  start(latency, 4, 16);
  auto whole = infer_counting("big", 16);
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, whole);
  whole.reset();
  scheduler.run();
  BOOST_TEST(outcome("big") == "CANCELLED");
  infer_counting("next", 16); // the queue is empty again
  while (work_once()) {
  }
  BOOST_TEST(outcome("next") == "ok");
}

BOOST_AUTO_TEST_CASE(end_with_their_deadline) {
  start(latency, 4);
  auto asked = make("big", 16, 1, 50ms);
  hand_on(*shared, shared->router, asked);
  asked.reset();
  scheduler.run();
  pass(50ms);
  BOOST_TEST(outcome("big") == "DEADLINE_EXCEEDED");
  while (work_once()) {
  }
}

BOOST_AUTO_TEST_CASE(are_refused_as_a_whole) {
  start(latency, 4, 16);
  infer("running");
  infer_counting("fits", 14);
  infer_counting("big", 8);
  BOOST_TEST(outcome("big") == "RESOURCE_EXHAUSTED");
  infer_counting("too large", 17);
  BOOST_TEST(outcome("too large") == "INVALID_ARGUMENT");
  BOOST_TEST(answers.at("too large").error().text
             == "model m: expected between 1 and 16 rows (axis 0), got 17");
  while (work_once()) {
  }
  BOOST_TEST(outcome("fits") == "ok");
}

BOOST_AUTO_TEST_CASE(count_as_one_request) {
  start(latency, 4);
  infer_counting("big", 10);
  while (work_once()) {
  }
  const auto seen = statistics();
  BOOST_TEST(seen.at(0).inference_count == 10u);
  BOOST_TEST(seen[0].success.count == 1u);
  BOOST_TEST(seen[0].execution_count == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct padding_fixture : actor_fixture {
  padding_fixture() { planned_up_to = 0; }

  void start_padding(batching::padded_length length, double value = 0) {
    boot();
    load({.policy = latency, .max_batch = 8, .padding = {{std::move(length)}, {value}}});
  }

  /// One row of so many columns, which count up from 1.
  void infer_columns(const std::string& name, std::int64_t columns) {
    infer(name, [&](inference_request& request) {
      std::vector<float> values;
      for (std::int64_t i = 1; i <= columns; ++i)
        values.push_back(static_cast<float>(i));
      request.inputs[0].value = {dtype::float32,
                                 {1, columns},
                                 copy_of(std::as_bytes(std::span{values.data(), values.size()}))};
    });
  }

  const tensor& output(const std::string& name) const {
    return answers.at(name)->outputs.at(0).value;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(requests_of_different_lengths, padding_fixture)

BOOST_AUTO_TEST_CASE(run_together_padded_to_one_length_and_get_their_own_back) {
  start_padding({"n", {{0, 1}}, {{0, 1, 1}}, {4, 8}, {}});
  infer_columns("running", 4);
  infer_columns("two", 2);
  infer_columns("three", 3);
  infer_columns("four", 4);
  work_once();
  work_once();
  for (const auto& [name, columns] : {std::pair{"two", 2}, {"three", 3}, {"four", 4}}) {
    BOOST_REQUIRE(outcome(name) == "ok");
    BOOST_TEST((output(name).dims == shape{1, columns}));
    for (int i = 0; i < columns; ++i)
      BOOST_TEST(elements_of<float>(output(name).data)[static_cast<std::size_t>(i)]
                 == static_cast<float>(i + 1));
  }
}

BOOST_AUTO_TEST_CASE(are_padded_with_the_value_that_was_declared) {
  start_padding({"n", {{0, 1}}, {}, {4}, {}}, -7); // nothing is cut back
  infer_columns("two", 2);
  work_once();
  BOOST_TEST((output("two").dims == shape{1, 4}));
  const auto values = elements_of<float>(output("two").data);
  BOOST_TEST(values[1] == 2.0f);
  BOOST_TEST(values[2] == -7.0f);
  BOOST_TEST(values[3] == -7.0f);
}

BOOST_AUTO_TEST_CASE(beyond_the_largest_length_run_as_they_are) {
  start_padding({"n", {{0, 1}}, {{0, 1, 1}}, {4}, {}});
  infer_columns("six", 6);
  work_once();
  BOOST_TEST((output("six").dims == shape{1, 6}));
}

BOOST_AUTO_TEST_CASE(hear_of_an_output_that_is_not_as_it_was_declared) {
  start_padding({"n", {{0, 1}}, {{0, 1, 2}}, {4}, {}}); // the output is as long as the input
  infer_columns("three", 3);
  work_once();
  BOOST_TEST(outcome("three") == "FAILED_PRECONDITION");
  BOOST_TEST(answers.at("three").error().text.find("expected size 2 on axis 1")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
