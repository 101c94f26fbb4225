// Random work and random faults on the real actors: whatever happens, every request that was
// accepted is answered once, and nothing is left behind. A seed that fails fails again.

#include "tests/actors/actor_fixture.hpp"

#include <random>
#include <set>

using namespace troupe;
using namespace troupe::test;

namespace {

const error lost{errc::unavailable, "the device is gone"};
const error broken{errc::internal, "broken on purpose"};

class random_run : public actor_fixture {
public:
  explicit random_run(unsigned seed) : choose_(seed) {
    second_ = add_device();
    priorities.levels = 3;
    priorities.by_level[2].timeout = 40ms;
    priorities.by_level[3].timeout = 40ms;
    priorities.by_level[3].action = batching::queue_policy::overdue::delay;
    boot();
    publish();
  }

  void step() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: ask(); break;
      case 5:
      case 6:
      case 7: (void)work->run_next(); break;
      case 8:
      case 9: (void)second_->run_next(); break;
      case 10: (void)device_of(below(2)).run_next(broken); break;
      case 11:
        if (below(4) == 0)
          (void)device_of(below(2)).run_next(lost);
        break;
      case 12: cancel_one(); break;
      case 13:
        if (below(6) == 0)
          kill_a_batcher();
        break;
      case 14:
        if (below(6) == 0)
          publish();
        break;
      default: scheduler.advance_time(std::chrono::milliseconds{below(30)});
    }
    // Not everything is looked at before the next thing happens.
    for (auto left = below(12); left > 0 && scheduler.try_run_once(); --left) {
    }
  }

  /// Nothing more happens to them: they come to an end well before their deadlines.
  void finish() {
    for (int i = 0; i < 400 && shared->live->count() > 0; ++i) {
      scheduler.run();
      while (work->run_next() || second_->run_next())
        scheduler.run();
      pass(50ms);
    }
    BOOST_TEST(shared->live->count() == 0u, "no request is left without an answer");
    BOOST_TEST(answers.size() == asked_, "every request is answered");
    for (const auto& [name, part] : answers)
      if (!part)
        BOOST_TEST((part.error().code != errc::deadline_exceeded || name.starts_with("hurried")),
                   name << " was not lost on its way: " << part.error().text);
    for (const auto& one : models_)
      for (const auto& place : one->placements)
        BOOST_TEST(place.load->waiting_rows() == 0, "nothing is on its way for ever");
    BOOST_TEST(shared->resources->available("r", 0) == (needed_ ? 1 : 0));
  }

private:
  std::int64_t below(std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(choose_);
  }

  work_list& device_of(std::int64_t which) { return which == 0 ? *work : *second_; }

  void publish() {
    const placement::instance_terms needy{0, 1, {{"r", 0, 1}}};
    const bool needs = below(2) == 0;
    needed_ = needed_ || needs;
    load({.policy = latency,
          .max_batch = 4,
          .queue_rows = 24,
          .versions = {std::to_string(++version_)},
          .terms = needs ? std::vector{needy, needy} : std::vector<placement::instance_terms>{},
          .padding = {{{"n", {{0, 1}}, {{0, 1, 1}}, {4}, {}}}, {0}}});
  }

  void ask() {
    const bool hurried = below(5) == 0;
    const auto name = (hurried ? "hurried " : "calm ") + std::to_string(asked_++);
    const auto job = make(name, 1 + below(10), below(12) == 0 ? identity_run::poison : 1,
                          hurried ? duration{std::chrono::milliseconds{1 + below(100)}} : 60s,
                          static_cast<std::uint32_t>(below(4)));
    hand_on(*shared, shared->router, job);
  }

  void cancel_one() {
    auto open = shared->live->all();
    if (open.empty())
      return;
    const auto& one = open[static_cast<std::size_t>(below(static_cast<std::int64_t>(open.size())))];
    if (one->internal)
      return; // a part, or a warm-up: nobody has a handle to it
    one->cancel();
    tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, one);
  }

  void kill_a_batcher() {
    for (const auto& one : shared->live->all())
      if (one->where && shared->stages->holds(one->where->entry)) {
        models_.insert(one->model);
        return kill<batcher_actor>(one->where->entry);
      }
  }

  std::mt19937 choose_;
  std::shared_ptr<work_list> second_;
  std::set<model_ptr> models_;
  std::size_t asked_ = 0;
  int version_ = 0;
  bool needed_ = false;
};

} // namespace

BOOST_AUTO_TEST_SUITE(random_work)

BOOST_AUTO_TEST_CASE(is_answered_once_whatever_breaks) {
  spdlog::set_level(spdlog::level::off);
  for (unsigned seed = 1; seed <= 150; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_run run{seed};
      for (int i = 0; i < 250; ++i)
        run.step();
      run.finish();
    }
  spdlog::set_level(spdlog::level::info);
}

BOOST_AUTO_TEST_SUITE_END()
