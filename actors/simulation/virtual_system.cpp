#include "actors/simulation/virtual_system.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe::actors::simulation {

/// The scheduler's clock, which stands still once the system is gone.
class virtual_system::scheduler_clock final : public clock_source {
public:
  explicit scheduler_clock(caf::scheduler::test_coordinator& of) : of_(&of) {}

  [[nodiscard]] time_point now() const noexcept override {
    return of_ ? time_point{of_->clock().now()} : last_;
  }
  void end() noexcept {
    last_ = now();
    of_ = nullptr;
  }

private:
  caf::scheduler::test_coordinator* of_;
  time_point last_{};
};

namespace {

caf::actor_system_config& configured(caf::actor_system_config& with) {
  with.set("scheduler.policy", caf::atom("testing"));
  return with;
}

} // namespace

virtual_system::virtual_system()
    : actors_(std::make_unique<caf::actor_system>(configured(config_))),
      scheduler_(&dynamic_cast<caf::scheduler::test_coordinator&>(actors_->scheduler())) {
  scheduler_->clock().current_time += time_->now() - time_point{}; // an hour, like the devices'
  clock_ = std::make_shared<scheduler_clock>(*scheduler_);
}

virtual_system::~virtual_system() {
  stop();
  clock_->end(); // jobs that are dropped with their actors still ask for the time
  actors_.reset();
}

void virtual_system::start(system_parts parts, const std::function<void(child_spec&)>& adjust) {
  parts.clock = clock_;
  auto children = wire(shared_, parts, {.detached = false, .storages = 1});
  shared_->offload = [](const std::function<void()>& computation) { computation(); };
  if (adjust)
    for (auto& child : children)
      adjust(child);
  root_ = actors_->spawn(supervisor, shared_, std::move(children));
  run();
}

void virtual_system::stop() {
  if (!root_)
    return;
  caf::anon_send_exit(root_, caf::exit_reason::user_shutdown);
  root_ = nullptr;
  run();
}

std::shared_ptr<const clock_source> virtual_system::clock() const {
  return clock_;
}

time_point virtual_system::now() const noexcept {
  return clock_->now();
}

void virtual_system::run() {
  do
    scheduler_->run();
  while (time_->next() && *time_->next() <= now() && time_->step());
}

std::optional<time_point> virtual_system::next() const {
  auto first = time_->next();
  const auto& alarms = scheduler_->clock().schedule();
  if (!alarms.empty() && (!first || time_point{alarms.begin()->first} < *first))
    first = time_point{alarms.begin()->first};
  return first;
}

void virtual_system::run_until(time_point until) {
  run();
  for (auto at = next(); at && *at <= until; at = next()) {
    move_to(*at);
    run();
  }
  move_to(until);
}

void virtual_system::move_to(time_point at) {
  scheduler_->advance_time(std::max(at - now(), duration{0}));
  if (now() > time_->now())
    time_->advance(now() - time_->now());
}

} // namespace troupe::actors::simulation
