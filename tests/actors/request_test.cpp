// What is checked before a request enters a queue, and what is done to outputs; without actors.

#include "actors/admission.hpp"
#include "actors/alarm.hpp"
#include "actors/backoff.hpp"
#include "actors/check_request.hpp"
#include "actors/complete_inputs.hpp"
#include "actors/outputs.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;

namespace {

tensor floats(shape dims, const std::vector<float>& values) {
  return {dtype::float32, std::move(dims),
          copy_of(std::as_bytes(std::span{values.data(), values.size()}))};
}

struct two_inputs {
  two_inputs() {
    tensor_signature a{"a", dtype::float32, {-1, 2}, {"", ""}, {}, false, {}};
    auto b = a;
    b.name = "b";
    b.optional = true;
    tensor_signature y{"y", dtype::float32, {-1, 2}, {"", ""}, {}, false, {}};
    made->name = "m";
    made->io = {{a, b}, {y}, 4};
  }

  std::string check(std::vector<named_tensor> inputs) {
    inference_request request;
    request.inputs = std::move(inputs);
    request.outputs = outputs;
    asked = job::impl::make(std::move(request), {}, nullptr, live, time_point::max());
    asked->resolve(made);
    const auto found = check_request(*asked);
    if (!found)
      return found.error().text;
    if (!found->needs_preprocess)
      return "ok";
    const auto completed = complete_inputs(*asked);
    return completed ? "completed" : completed.error().text;
  }

  std::shared_ptr<served_model> made = std::make_shared<served_model>();
  std::shared_ptr<live_jobs> live =
      std::make_shared<live_jobs>(std::make_shared<steady_clock_source>());
  std::vector<protocol::requested_output> outputs;
  std::shared_ptr<job::impl> asked;
};

const tensor row = floats({1, 2}, {1, 2});

} // namespace

BOOST_FIXTURE_TEST_SUITE(a_request, two_inputs)

BOOST_AUTO_TEST_CASE(is_put_into_the_order_of_the_signature) {
  BOOST_TEST(check({{"b", row, {}}, {"a", row, {}}}) == "ok");
  BOOST_TEST(asked->request.inputs[0].name == "a");
  BOOST_TEST(asked->rows == 1);
}

BOOST_AUTO_TEST_CASE(with_an_optional_input_left_out_is_completed) {
  BOOST_TEST(check({{"a", floats({2, 2}, {1, 2, 3, 4}), {}}}) == "completed");
  const auto& filled = asked->request.inputs[1].value;
  BOOST_TEST((filled.dims == shape{2, 2}));
  BOOST_TEST(elements_of<float>(filled.data)[3] == 0.0f);
}

BOOST_AUTO_TEST_CASE(that_does_not_fit_is_told_what_was_expected_and_what_came) {
  BOOST_TEST(check({}) == "model m: input \"a\" is missing; it takes: a, b");
  BOOST_TEST(check({{"c", row, {}}}) == "model m: no input \"c\"; it takes: a, b");
  BOOST_TEST(check({{"a", row, {}}, {"a", row, {}}}) == "model m: input \"a\" is given twice");
  BOOST_TEST(check({{"a", floats({1, 3}, {1, 2, 3}), {}}})
             == "model m: input \"a\": expected shape [-1,2], got [1,3]");
  BOOST_TEST(check({{"a", floats({2}, {1, 2}), {}}})
             == "model m: input \"a\": expected shape [-1,2], got [2]");
  BOOST_TEST(check({{"a", floats({1, 2}, {1}), {}}})
             == "model m: input \"a\": shape [1,2] of FP32 takes 8 bytes, got 4");
  auto integers = row;
  integers.type = dtype::int32;
  BOOST_TEST(check({{"a", integers, {}}})
             == "model m: input \"a\": expected datatype FP32, got INT32");
  made->settings.max_queue_rows = 4;
  BOOST_TEST(check({{"a", floats({5, 2}, std::vector<float>(10)), {}}})
             == "model m: expected between 1 and 4 rows (axis 0), got 5");
  BOOST_TEST(check({{"a", row, {}}, {"b", floats({2, 2}, {1, 2, 3, 4}), {}}})
             == "model m: input \"b\" has 2 rows, input \"a\" has 1: axis 0 is the batch");
  outputs = {{"z", {}}};
  BOOST_TEST(check({{"a", row, {}}, {"b", row, {}}}) == "model m: no output \"z\"; it gives: y");
}

BOOST_AUTO_TEST_CASE(of_a_length_that_is_padded_brings_its_mask_or_gets_one) {
  made->io.inputs[0].dims = made->io.inputs[1].dims = {-1, -1};
  made->io.inputs[1].optional = false;
  made->settings.padding.lengths = {{"n", {{0, 1}, {1, 1}}, {}, {4}, 1}};
  BOOST_TEST(check({{"a", floats({2, 3}, std::vector<float>(6)), {}}}) == "completed");
  const auto& mask = asked->request.inputs[1].value;
  BOOST_TEST((mask.dims == shape{2, 3}));
  for (const auto value : elements_of<float>(mask.data))
    BOOST_TEST(value == 1.0f);
  BOOST_TEST((asked->run_dims == std::vector<shape>{{2, 4}, {2, 4}}));
  BOOST_TEST(asked->postprocess);
  const auto key = asked->key;
  BOOST_TEST(check({{"a", floats({1, 4}, std::vector<float>(4)), {}},
                    {"b", floats({1, 4}, std::vector<float>(4)), {}}})
             == "ok");
  BOOST_TEST((asked->key == key));
  BOOST_TEST(asked->run_dims.empty());
  BOOST_TEST(!asked->postprocess);
  BOOST_TEST(check({{"a", row, {}}, {"b", floats({1, 3}, {1, 1, 1}), {}}})
             == "model m: input \"b\": axis 1 has size 3, another input has the length \"n\" of 2");
}

BOOST_AUTO_TEST_CASE(can_be_checked_again_as_it_came) {
  BOOST_TEST(check({{"a", row, {}}}) == "completed");
  BOOST_TEST(asked->request.inputs.size() == 2u);
  restore_inputs(*asked);
  BOOST_TEST(asked->request.inputs.size() == 1u);
  BOOST_TEST(asked->request.inputs[0].name == "a");
}

BOOST_AUTO_TEST_CASE(with_equal_symbols_of_different_size_is_refused) {
  made->io.inputs[0].dims = made->io.inputs[1].dims = {-1, -1};
  made->io.inputs[0].dim_names = made->io.inputs[1].dim_names = {"batch", "length"};
  BOOST_TEST(check({{"a", row, {}}, {"b", floats({1, 1}, {1}), {}}})
             == "model m: input \"b\": axis 1 (\"length\") has size 1, another input has 2 there");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(outputs)

BOOST_AUTO_TEST_CASE(softmax_sums_to_one_however_large_the_logits) {
  const auto made = *softmax(floats({2, 2}, {1000, 1000, 0, -1000}));
  const auto values = elements_of<float>(made.data);
  BOOST_TEST(values[0] == 0.5f);
  BOOST_TEST(values[2] == 1.0f);
  BOOST_TEST(values[3] == 0.0f);
}

BOOST_AUTO_TEST_CASE(classification_names_the_largest_first) {
  const std::vector<std::string> labels{"cat", "dog"};
  const auto made = *classify(floats({2, 3}, {1, 3, 2, 5, 4, 6}), 2, labels, true);
  BOOST_TEST((made.dims == shape{2, 2}));
  const auto said = *unpack_strings(made);
  BOOST_TEST(said[0] == "3.000000:1:dog");
  BOOST_TEST(said[1] == "2.000000:2");
  BOOST_TEST(said[2] == "6.000000:2");
  BOOST_TEST(said[3] == "5.000000:0:cat");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(admission_at_the_edge)

BOOST_AUTO_TEST_CASE(counts_requests_and_bytes_and_gives_them_back) {
  auto budget = std::make_shared<admission_budget>(2, 100);
  {
    auto first = budget->admit(60);
    BOOST_TEST((budget->admit(60).error().code == errc::resource_exhausted));
    auto second = budget->admit(40);
    BOOST_TEST((budget->admit(0).error().code == errc::resource_exhausted));
    BOOST_TEST(budget->requests() == 2u);
    BOOST_TEST(budget->bytes() == 100u);
  }
  BOOST_TEST(budget->requests() == 0u);
  BOOST_TEST(budget->bytes() == 0u);
  BOOST_TEST((budget->admit(101).error().code == errc::invalid_argument));
  budget->close();
  BOOST_TEST((budget->admit(1).error().code == errc::unavailable));
}

BOOST_AUTO_TEST_CASE(a_parents_units_go_with_the_last_of_its_children) {
  auto budget = std::make_shared<admission_budget>(1, 100);
  shared_units units{std::move(*budget->admit(10))};
  BOOST_TEST(units.join());
  units.drop();
  BOOST_TEST(budget->requests() == 1u);
  units.drop();
  BOOST_TEST(budget->requests() == 0u);
  BOOST_TEST(!units.join());
}

BOOST_AUTO_TEST_CASE(pauses_grow_to_five_seconds_and_are_forgotten_by_who_lives) {
  backoff pause;
  time_point now{1h};
  BOOST_TEST((pause.next(now) == 0ms));
  BOOST_TEST((pause.next(now) == 10ms));
  BOOST_TEST((pause.next(now) == 20ms));
  for (int i = 0; i < 20; ++i)
    (void)pause.next(now);
  BOOST_TEST((pause.next(now) == 5s));
  BOOST_TEST((pause.next(now + 7s) == 5s)); // it lived for two of them
  BOOST_TEST((pause.next(now + 16s) == 0ms));
}

BOOST_AUTO_TEST_CASE(an_alarm_is_sent_for_the_earliest_time_alone_and_never_far_ahead) {
  troupe::actors::alarm of;
  const time_point now{1h};
  BOOST_TEST((of.set(now + 60s, now) == 1s));
  BOOST_TEST(!of.set(now + 50s, now));
  BOOST_TEST((of.set(now + 5ms, now) == 5ms));
  BOOST_TEST((of.set(now - 1s, now) == 0ms));
  of.rang(now);
  BOOST_TEST((of.set(now + 30ms, now) == 30ms));
  of.rang(now + 5ms); // one that was overtaken
  BOOST_TEST(!of.set(now + 40ms, now + 5ms));
}

BOOST_AUTO_TEST_SUITE_END()
