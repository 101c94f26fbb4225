// Scenarios on devices of known capacity, captures of what the actors did, and one made of the
// other.

#include "actors/capture_recorder.hpp"
#include "actors/simulation/policy_name.hpp"
#include "actors/simulation/replay.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace troupe;
using namespace troupe::test;

namespace {

namespace fs = std::filesystem;

// Requests of one row, evenly spaced, on devices that take 10 ms and 1 ms a row.
simulation::scenario evenly(duration gap, int count, std::size_t devices = 1) {
  simulation::scenario made;
  auto& model = made.models.emplace_back();
  model.name = "m";
  model.max_batch = 16;
  model.settings.batching = latency;
  model.settings.batching.max_rows = 16;
  for (std::size_t i = 0; i < devices; ++i) {
    made.devices.push_back({fmt::format("d{}", i)});
    model.on.push_back([](std::size_t, std::int64_t rows) { return 10ms + rows * 1ms; });
  }
  made.next = [gap, count, at = 0]() mutable -> std::optional<simulation::arrival> {
    if (at == count)
      return std::nullopt;
    return simulation::arrival{.at = gap * at++};
  };
  return made;
}

simulation::outcome played(const simulation::scenario& what) {
  auto done = simulation::play(what);
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  return *std::move(done);
}

class capture_file {
public:
  capture_file() : path_(fs::temp_directory_path() / fmt::format("troupe-{}.capture", getpid())) {}
  ~capture_file() { fs::remove(path_); }
  const fs::path& path() const noexcept { return path_; }
  std::string text() const {
    std::ifstream from{path_};
    return {std::istreambuf_iterator<char>{from}, {}};
  }

private:
  fs::path path_;
};

result<simulation::captured> read(const std::string& text) {
  std::istringstream from{text};
  return simulation::read_capture(from);
}

} // namespace

BOOST_AUTO_TEST_SUITE(replays)

BOOST_AUTO_TEST_CASE(a_device_that_is_idle_answers_after_one_run) {
  const auto done = played(evenly(100ms, 10));
  const auto& of = done.models.at(0);
  BOOST_TEST(of.asked == 10u);
  BOOST_TEST(of.answered == 10u);
  BOOST_TEST((of.mean() == 11ms));
  BOOST_TEST((of.quantile(0.99) == 11ms));
  BOOST_TEST((done.span == 900ms));
}

BOOST_AUTO_TEST_CASE(a_device_that_is_overloaded_answers_what_it_can_and_refuses_the_rest) {
  auto what = evenly(100us, 20'000); // ten a millisecond; 16 rows take 26 ms
  what.models[0].settings.max_queue_rows = 64;
  const auto done = played(what);
  const auto& of = done.models.at(0);
  BOOST_TEST(of.answered + of.refused == of.asked);
  const auto per_second =
      static_cast<double>(of.rows) / std::chrono::duration<double>(done.span).count();
  BOOST_TEST(per_second > 0.95 * 16 / 0.026);
  BOOST_TEST(per_second < 1.02 * 16 / 0.026);
}

BOOST_AUTO_TEST_CASE(two_devices_share_the_work) {
  const auto done = played(evenly(2ms, 1000, 2));
  BOOST_TEST(done.models.at(0).answered == 1000u);
  for (const auto& one : done.devices)
    BOOST_TEST(std::chrono::duration<double>(one.busy).count() > 0.7);
}

BOOST_AUTO_TEST_CASE(the_same_scenario_gives_the_same_outcome) {
  const auto first = played(evenly(3ms, 500));
  const auto second = played(evenly(3ms, 500));
  BOOST_TEST((first.models.at(0).latencies == second.models.at(0).latencies));
}

BOOST_AUTO_TEST_CASE(a_scenario_without_a_device_for_a_model_is_refused) {
  auto what = evenly(1ms, 1);
  what.models[0].on.clear();
  BOOST_TEST((simulation::play(what).error().code == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(policies_have_names) {
  BOOST_TEST(simulation::policy_named("none")->max_rows == 1);
  BOOST_TEST(simulation::policy_named("auto")->adapts);
  const auto fixed = simulation::policy_named("fixed:32:2.5");
  BOOST_REQUIRE(fixed);
  BOOST_TEST(fixed->min_rows == 32);
  BOOST_TEST((fixed->max_wait == 2500us));
  BOOST_TEST(!fixed->work_conserving);
  for (const auto* wrong : {"", "fixed", "fixed:8", "fixed:0:1", "fixed:8:-1", "fixed:8:x", "fast"})
    BOOST_TEST(!simulation::policy_named(wrong));
}

BOOST_AUTO_TEST_CASE(what_the_actors_did_is_recorded_and_can_be_played_again) {
  const capture_file file;
  {
    actor_fixture world;
    auto recorder = capture_recorder::open(file.path(), world.clock,
                                           {7, {{"fake", "fake", 2}}, 64, 1 << 20, 60s});
    BOOST_REQUIRE(recorder);
    world.parts.recorder = *recorder;
    world.start(latency, 16);
    for (int i = 0; i < 5; ++i)
      world.infer(fmt::format("r{}", i), i == 4 ? 3 : 1);
    while (world.work_once()) {
    }
  }
  const auto text = file.text();
  const auto seen = read(text);
  BOOST_REQUIRE_MESSAGE(seen, (seen ? "" : seen.error().text));
  BOOST_TEST(seen->arrivals.size() == 5u);
  BOOST_TEST(seen->arrivals.at(4).rows == 3);
  BOOST_TEST(seen->measured.models.at(0).answered == 5u);
  BOOST_TEST(!seen->cut_off);
  const auto again = played(simulation::scenario_of(*seen, {}));
  BOOST_TEST(again.models.at(0).asked == 5u);
  BOOST_TEST(again.models.at(0).answered == 5u);
  BOOST_TEST((again.models.at(0).latencies == seen->measured.models.at(0).latencies));

  // As a crash leaves it: whatever is whole is replayed, wherever the file ends.
  for (std::size_t end = 0; end < text.size(); end += 7) {
    const auto part = read(text.substr(0, end));
    if (part)
      BOOST_TEST(simulation::play(simulation::scenario_of(*part, {})).has_value());
    else
      BOOST_TEST(!part.error().text.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_replay_may_have_other_devices_policies_and_rates) {
  std::string text = capture::to_line(capture::header{7, {{"a", "sim", 2}}, 4096, 1 << 30, 60s});
  text += capture::to_line(capture::model{1, "m", "1", 16, 4096, latency, {}, {0}});
  for (int i = 0; i < 100; ++i) {
    text += capture::to_line(capture::ask{10ms * i, 1u + i, 1, 1, 1, 0, 0ms, 8});
    text += capture::to_line(capture::run{10ms * i, 1, 0, 1, 1, 1, 1, 8ms});
  }
  text += capture::to_line(capture::run{1s, 1, 0, 1, 1, 16, 16, 23ms});
  const auto seen = read(text);
  BOOST_REQUIRE(seen);
  const auto plain = played(simulation::scenario_of(*seen, {}));
  BOOST_TEST((plain.models.at(0).quantile(1) == 8ms));
  simulation::replay_options with;
  with.rate = 5;
  with.policy = *simulation::policy_named("none");
  const auto faster = played(simulation::scenario_of(*seen, with));
  BOOST_TEST((faster.models.at(0).quantile(1) > 100ms));
  with.devices = 5;
  const auto more = played(simulation::scenario_of(*seen, with));
  BOOST_TEST(more.devices.size() == 5u);
  BOOST_TEST((more.models.at(0).quantile(1) <= 16ms));
}

BOOST_AUTO_TEST_CASE(a_capture_without_a_batch_has_nothing_to_replay) {
  std::string text = capture::to_line(capture::header{7, {{"a", "sim", 2}}, 4096, 1 << 30, 60s});
  BOOST_TEST(read(text).error().text.starts_with("there is nothing to replay"));
}

BOOST_AUTO_TEST_SUITE_END()
