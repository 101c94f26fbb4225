// Batches on a device whose memory the host cannot see: it refuses to copy from and to any host
// memory that it did not hand out.

#include "tests/actors/actor_fixture.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr std::size_t block = 4096; // the smallest, large enough for a batch here
constexpr std::size_t row = 2 * sizeof(float);

struct apart_fixture : actor_fixture {
  apart_fixture() { device->about().host_visible = false; }

  std::size_t held_by_host() const { return device->held_bytes(sim::side::host); }

  stage_id host_memory() const {
    const auto at = std::find_if(wired.begin(), wired.end(), [](const auto& one) {
      return one.second.starts_with("host memory");
    });
    BOOST_REQUIRE((at != wired.end()));
    return at->first;
  }

  bool answered_with(const std::string& name, std::int64_t rows, float value) const {
    if (outcome(name) != "ok")
      return false;
    const auto& y = answers.at(name)->outputs.at(0).value;
    const auto values = elements_of<float>(y.data);
    return y.dims == shape{rows, 2}
           && std::ranges::all_of(values, [&](float v) { return v == value; });
  }

  void start_sums() {
    boot();
    model_spec spec;
    spec.policy = latency;
    spec.max_batch = 8;
    spec.sequences = sum_rules(8, 1s);
    load(spec);
  }

  void step(const std::string& name, std::int64_t id, float value, bool begins) {
    const auto asked = make(name, 1, value);
    asked->request.parameters = {{"sequence_id", id}};
    if (begins)
      asked->request.parameters["sequence_start"] = true;
    hand_on(*shared, shared->router, asked);
    scheduler.run();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(staging, apart_fixture)

BOOST_AUTO_TEST_CASE(an_input_goes_over_in_one_copy_and_an_output_comes_back_in_one) {
  device->about().tickets = 1;
  start(latency);
  infer("first");
  infer("a", 1, 1);
  infer("b", 2, 2);
  infer("c", 2, 3);
  work_once();
  const auto before = device->copied();
  work_once();
  BOOST_TEST(work->run_rows.back() == 8); // five, padded
  BOOST_TEST(answered_with("a", 1, 1));
  BOOST_TEST(answered_with("b", 2, 2));
  BOOST_TEST(answered_with("c", 2, 3));
  const auto after = device->copied();
  BOOST_TEST(after.to_device.copies - before.to_device.copies == 1u);
  BOOST_TEST(after.to_device.bytes - before.to_device.bytes == 8 * row);
  BOOST_TEST(after.to_host.copies - before.to_host.copies == 1u);
  BOOST_TEST(after.to_host.bytes - before.to_host.bytes == 5 * row);
  BOOST_TEST(after.within.copies == 0u);
}

BOOST_AUTO_TEST_CASE(each_run_of_a_batch_has_room_of_its_own) {
  planned_up_to = 1; // a batch of three takes three runs
  start(latency);
  infer("a");
  infer("b", 3, 5);
  work_once();
  const auto before = device->copied();
  work_once();
  BOOST_TEST(answered_with("b", 3, 5));
  const auto after = device->copied();
  BOOST_TEST(after.to_device.copies - before.to_device.copies == 3u);
  BOOST_TEST(after.to_host.bytes - before.to_host.bytes == 3 * row);
}

BOOST_AUTO_TEST_CASE(a_batch_waits_for_pinned_memory_and_goes_on_when_there_is_some) {
  parts.with.pinned_memory_bytes = block;
  start(latency, 1);
  infer("a");
  infer("b");
  BOOST_TEST(work->waiting.size() == 1u);
  BOOST_TEST(held_by_host() == block);
  work_once();
  BOOST_TEST(work->waiting.size() == 1u);
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  BOOST_TEST(outcome("b") == "ok");
  BOOST_TEST(held_by_host() == block);
}

BOOST_AUTO_TEST_CASE(a_batch_that_never_fits_is_refused_and_leaves_nothing_behind) {
  parts.with.pinned_memory_bytes = block;
  start(latency);
  infer("a", 256, 1); // 2 KiB each way
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  const auto wide = make("wide");
  wide->request.inputs[0].value =
      tensor{dtype::float32, {1, 1024}, copy_of(std::vector<std::byte>(1024 * sizeof(float)))};
  hand_on(*shared, shared->router, wide);
  scheduler.run();
  BOOST_TEST(outcome("wide") == "RESOURCE_EXHAUSTED");
  BOOST_TEST(answers.at("wide").error().text.find("pinned host memory") != std::string::npos);
  infer("b");
  work_once();
  BOOST_TEST(outcome("b") == "ok");
  for (int i = 0; i < 4; ++i)
    pass(20s);
  BOOST_TEST(held_by_host() == 0u);
  BOOST_TEST(device->held_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(answers_that_lie_about_hold_no_pinned_memory) {
  start(latency, 1);
  for (int i = 0; i < 20; ++i) {
    infer(std::to_string(i), 1, static_cast<float>(i));
    work_once();
  }
  BOOST_TEST(held_by_host() == block); // one after the other through the same
  BOOST_TEST(device->held_bytes() == block);
  for (int i = 0; i < 4; ++i)
    pass(20s);
  BOOST_TEST(held_by_host() == 0u);
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(answered_with(std::to_string(i), 1, static_cast<float>(i)));
}

BOOST_AUTO_TEST_CASE(a_batch_that_waits_for_pinned_memory_outlives_the_one_that_keeps_its_books) {
  parts.with.pinned_memory_bytes = block;
  start(latency, 1);
  two_outlive(host_memory());
  BOOST_TEST(held_by_host() == block);
}

BOOST_AUTO_TEST_CASE(no_books_are_kept_of_pinned_memory_where_the_host_sees_the_device) {
  device->about().host_visible = true;
  start(latency);
  infer("a");
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  BOOST_TEST(device->copied().to_host.copies == 0u);
  BOOST_TEST(std::ranges::none_of(
      wired, [](const auto& one) { return one.second.starts_with("host memory"); }));
}

BOOST_AUTO_TEST_CASE(states_of_sequences_stay_on_the_device) {
  device->about().tickets = 1;
  start_sums();
  step("a1", 1, 1, true);
  work_once();
  step("c1", 3, 100, true);
  step("b1", 2, 10, true); // its state is still zeros in the host's memory
  step("a2", 1, 2, false); // this one's is not
  work_once();
  const auto before = device->copied();
  work_once();
  BOOST_TEST(work->run_rows.back() == 2);
  const auto after = device->copied();
  BOOST_TEST(after.to_device.copies - before.to_device.copies == 3u); // inputs, one state of them
  BOOST_TEST(after.within.copies - before.within.copies == 3u);       // read, and written twice
  BOOST_TEST(after.to_host.bytes - before.to_host.bytes == 2 * row);  // and no state
  step("b2", 2, 20, false);
  step("a3", 1, 3, false);
  while (work_once()) {
  }
  BOOST_TEST(answered_with("a1", 1, 1));
  BOOST_TEST(answered_with("a2", 1, 3));
  BOOST_TEST(answered_with("a3", 1, 6));
  BOOST_TEST(answered_with("b1", 1, 10));
  BOOST_TEST(answered_with("b2", 1, 30));
  BOOST_TEST(answered_with("c1", 1, 100));
}

BOOST_AUTO_TEST_SUITE_END()
