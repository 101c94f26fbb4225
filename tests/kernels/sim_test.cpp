#include "kernels/open_device.hpp"
#include "kernels/sim/sim_device.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

// A Relu over [rows, 2] on a simulated device.
class fixture {
public:
  explicit fixture(sim::sim_options options = {})
      : time{std::make_shared<sim::virtual_timeline>()} {
    options.time = time;
    on = sim::make_sim_device(std::move(options));
    auto opened = on->open_stream(stream_mode::own_thread);
    BOOST_REQUIRE(opened);
    queue = std::move(*opened);
  }
  ~fixture() {
    while (time->step()) {
    }
  }

  static std::shared_ptr<const kernel> relu(device& on, std::int64_t rows) {
    const tensor_desc desc{dtype::float32, {rows, 2}};
    const operand input{true, desc, nullptr};
    const bool wanted = true;
    const attribute_map none;
    weight_cache weights;
    auto choice = on.choose_kernel({.domain = "",
                                    .op_type = "Relu",
                                    .version = 14,
                                    .attributes = &none,
                                    .inputs = {&input, 1},
                                    .outputs = {&desc, 1},
                                    .outputs_wanted = {&wanted, 1},
                                    .post_ops = {},
                                    .threads = 1},
                                   weights);
    BOOST_REQUIRE(choice);
    return choice->chosen;
  }

  // Submits a run over `rows` rows of -1; the index of its outcome in `outcomes`.
  void submit(std::int64_t rows) {
    const auto width = static_cast<std::size_t>(rows) * 2;
    auto values = std::make_shared<std::vector<float>>(width, -1.0F);
    auto answers = std::make_shared<std::vector<float>>(width, -1.0F);
    const tensor_desc desc{dtype::float32, {rows, 2}};
    queue->submit(
        [=, run = relu(*on, rows)](stream& s) {
          const tensor_view from{reinterpret_cast<std::byte*>(values->data()), desc};
          const tensor_view to{reinterpret_cast<std::byte*>(answers->data()), desc};
          return run->launch(s, {{&from, 1}, {&to, 1}, {}});
        },
        [this, answers, start = time->now()](const result<void>& outcome) {
          outcomes.push_back(outcome ? "ok" : to_string(outcome.error()));
          finished.push_back(time->now() - start);
          BOOST_TEST((*answers)[0] == 0.0F);
        });
  }

  std::shared_ptr<sim::virtual_timeline> time;
  std::shared_ptr<device> on;
  std::unique_ptr<stream> queue;
  std::vector<std::string> outcomes;
  std::vector<duration> finished;
};

} // namespace

BOOST_AUTO_TEST_CASE(callbacks_fire_in_the_order_of_their_times) {
  sim::virtual_timeline time;
  std::vector<int> fired;
  const auto start = time.now();
  time.at(start + 2ms, [&] { fired.push_back(2); });
  time.at(start + 1ms, [&] {
    fired.push_back(1);
    time.at(time.now() + 1ms, [&] { fired.push_back(3); });
  });
  time.at(start + 5ms, [&] { fired.push_back(5); });
  time.advance(3ms);
  BOOST_TEST(fired == (std::vector{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST((time.now() == start + 3ms));
  BOOST_TEST(time.pending() == 1U);
  BOOST_TEST(time.step());
  BOOST_TEST((time.now() == start + 5ms));
  BOOST_TEST(!time.step());
}

BOOST_AUTO_TEST_CASE(a_submit_takes_its_launch_and_its_rows_and_answers_rightly) {
  fixture sim{{.launch_cost = 10ms, .row_cost = 100us}};
  sim.submit(20);
  BOOST_TEST(sim.outcomes.empty());
  sim.time->advance(11ms);
  BOOST_TEST(sim.outcomes.empty());
  sim.time->advance(1ms);
  BOOST_REQUIRE_EQUAL(sim.outcomes.size(), 1U);
  BOOST_TEST(sim.outcomes[0] == "ok");
  BOOST_TEST((sim.finished[0] == 12ms));
}

BOOST_AUTO_TEST_CASE(submits_of_all_streams_queue_for_one_engine) {
  fixture sim{{.launch_cost = 1ms}};
  auto second = sim.on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(second);
  sim.submit(1);
  std::swap(sim.queue, *second);
  sim.submit(1);
  sim.time->advance(5ms);
  BOOST_REQUIRE_EQUAL(sim.finished.size(), 2U);
  BOOST_TEST((sim.finished[0] == 1ms));
  BOOST_TEST((sim.finished[1] == 2ms));
}

BOOST_AUTO_TEST_CASE(every_nth_submit_fails_if_told_to) {
  fixture sim{{.fail_every = 2}};
  for (int i = 0; i < 4; ++i)
    sim.submit(1);
  sim.time->advance(0ms);
  BOOST_REQUIRE_EQUAL(sim.outcomes.size(), 4U);
  BOOST_TEST(sim.outcomes[0] == "ok");
  BOOST_TEST(sim.outcomes[1].starts_with("INTERNAL"));
  BOOST_TEST(sim.outcomes[2] == "ok");
  BOOST_TEST(sim.outcomes[3].starts_with("INTERNAL"));
}

BOOST_AUTO_TEST_CASE(a_script_decides_which_submits_fail) {
  fixture sim{{.script = [](std::uint64_t submit) -> std::optional<error> {
    if (submit != 2)
      return std::nullopt;
    return error{errc::unavailable, "scripted"};
  }}};
  sim.submit(1);
  sim.submit(1);
  sim.time->advance(0ms);
  BOOST_REQUIRE_EQUAL(sim.outcomes.size(), 2U);
  BOOST_TEST(sim.outcomes[0] == "ok");
  BOOST_TEST(sim.outcomes[1] == "UNAVAILABLE: scripted");
}

BOOST_AUTO_TEST_CASE(an_event_of_a_simulated_stream_follows_virtual_time) {
  fixture sim{{.launch_cost = 1ms}};
  sim.submit(1);
  auto behind = sim.queue->record();
  BOOST_REQUIRE(behind);
  BOOST_TEST(!(*behind)->ready());
  sim.time->advance(1ms);
  BOOST_TEST((*behind)->ready());
}

BOOST_AUTO_TEST_CASE(work_outlives_the_handle_of_its_stream) {
  fixture sim{{.launch_cost = 1ms}};
  sim.submit(1);
  sim.queue.reset();
  sim.time->advance(1ms);
  BOOST_TEST(sim.outcomes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_simulated_kernel_refuses_another_device) {
  fixture sim;
  const auto run = fixture::relu(*sim.on, 1);
  const auto other = open_device("cpu:threads=1");
  BOOST_REQUIRE(other);
  auto opened = (*other)->open_stream(stream_mode::inline_);
  BOOST_REQUIRE(opened);
  std::array<float, 2> values{};
  const tensor_view view{reinterpret_cast<std::byte*>(values.data()), {dtype::float32, {1, 2}}};
  std::string outcome;
  (*opened)->submit(
      [&](stream& s) {
        return run->launch(s, {{&view, 1}, {&view, 1}, {}});
      },
      [&](const result<void>& r) { outcome = r ? "ok" : r.error().text; });
  BOOST_TEST(outcome.find("another device") != std::string::npos, outcome);
}

BOOST_AUTO_TEST_CASE(memory_apart_from_the_hosts_is_copied_from_and_to_pinned_memory_only) {
  fixture sim{{.launch_cost = 1ms, .memory_bytes = 4096, .host_visible = false}};
  BOOST_TEST(!sim.on->properties().host_visible);
  const auto own = *sim.on->allocate(128);
  const auto pinned = *sim.on->allocate_host(128);
  BOOST_TEST(!sim.on->allocate(4096));
  std::array<std::byte, 256> elsewhere{};
  const auto outcome_of = [&](std::byte* to, const std::byte* from, std::size_t bytes) {
    std::string outcome;
    sim.queue->submit([=](stream& s) { return s.copy(to, from, bytes); },
                      [&](const result<void>& r) { outcome = r ? "ok" : to_string(r.error()); });
    sim.time->advance(0ms);
    return outcome;
  };
  BOOST_TEST(outcome_of(own->data(), pinned->data(), 128) == "ok");
  BOOST_TEST(outcome_of(own->data(), own->data() + 64, 64) == "ok");
  BOOST_TEST(outcome_of(pinned->data() + 64, own->data(), 32) == "ok");
  BOOST_TEST(outcome_of(own->data(), elsewhere.data(), 8).starts_with("INTERNAL"));
  BOOST_TEST(outcome_of(elsewhere.data(), own->data(), 8).starts_with("INTERNAL"));
  BOOST_TEST(outcome_of(pinned->data(), pinned->data() + 64, 8).starts_with("INTERNAL"));
  BOOST_TEST(outcome_of(own->data() + 64, pinned->data(), 65).starts_with("INTERNAL"));
  const auto copied = sim::traffic_of(*sim.on);
  BOOST_TEST(copied.to_device.copies == 1U);
  BOOST_TEST(copied.to_device.bytes == 128U);
  BOOST_TEST(copied.within.bytes == 64U);
  BOOST_TEST(copied.to_host.bytes == 32U);
}

BOOST_AUTO_TEST_CASE(what_goes_to_the_host_is_there_when_the_work_is_done) {
  fixture sim{{.host_visible = false}};
  const auto own = *sim.on->allocate(64);
  const auto pinned = *sim.on->allocate_host(64);
  std::fill_n(own->data(), 64, std::byte{7});
  std::fill_n(pinned->data(), 64, std::byte{0});
  bool done = false;
  sim.queue->submit(
      [&](stream& s) {
        if (auto ok = s.copy(pinned->data(), own->data(), 64); !ok)
          return ok;
        return sim::spend(s, 5ms);
      },
      [&](const result<void>& outcome) { done = outcome.has_value(); });
  sim.time->advance(4ms);
  BOOST_TEST((pinned->data()[0] == std::byte{0}));
  sim.time->advance(1ms);
  BOOST_TEST(done);
  BOOST_TEST((pinned->data()[63] == std::byte{7}));
}

BOOST_AUTO_TEST_CASE(a_kernel_does_not_write_to_the_host_where_memories_are_apart) {
  fixture sim{{.host_visible = false}};
  const auto own = *sim.on->allocate(8);
  const auto pinned = *sim.on->allocate_host(8);
  const auto run = fixture::relu(*sim.on, 1);
  const auto outcome_of = [&](std::byte* into) {
    std::string outcome;
    const tensor_desc desc{dtype::float32, {1, 2}};
    const tensor_view from{own->data(), desc};
    const tensor_view to{into, desc};
    sim.queue->submit(
        [&](stream& s) {
          return run->launch(s, {{&from, 1}, {&to, 1}, {}});
        },
        [&](const result<void>& r) { outcome = r ? "ok" : to_string(r.error()); });
    sim.time->advance(0ms);
    return outcome;
  };
  BOOST_TEST(outcome_of(own->data()) == "ok");
  BOOST_TEST(outcome_of(pinned->data()).starts_with("INTERNAL"));
}

BOOST_AUTO_TEST_CASE(real_time_works_off_everything_before_the_device_is_gone) {
  std::promise<void> finished;
  auto seen = finished.get_future();
  {
    auto on = open_device("sim:launch_us=200,row_us=10,tickets=3");
    BOOST_REQUIRE(on);
    BOOST_TEST((*on)->properties().kind == "sim");
    BOOST_TEST((*on)->properties().tickets == 3);
    auto opened = (*on)->open_stream(stream_mode::own_thread);
    BOOST_REQUIRE(opened);
    (*opened)->submit([](stream&) -> result<void> { return {}; },
                      [&](const result<void>&) { finished.set_value(); });
  }
  seen.wait();
  BOOST_TEST(!open_device("sim:launch=5"));
  BOOST_TEST(!open_device("sim:host_visible=2"));
  const auto apart = open_device("sim:host_visible=0,host_memory=100");
  BOOST_REQUIRE(apart);
  BOOST_TEST((*apart)->allocate_host(100).has_value());
  BOOST_TEST(!(*apart)->allocate_host(101));
}
