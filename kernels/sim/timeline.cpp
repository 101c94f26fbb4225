#include "kernels/sim/timeline.hpp"

#include "kernels/base/thread_name.hpp"

#include <algorithm>
#include <condition_variable>
#include <thread>

namespace troupe::sim {

time_point virtual_timeline::now() const noexcept {
  const std::lock_guard lock{mutex_};
  return now_;
}

void virtual_timeline::at(time_point when, callback fire) {
  const std::lock_guard lock{mutex_};
  waiting_.emplace(std::max(when, now_), std::move(fire));
}

bool virtual_timeline::fire_next(time_point limit) {
  callback fire;
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.empty() || waiting_.begin()->first > limit)
      return false;
    now_ = std::max(now_, waiting_.begin()->first);
    fire = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
  fire();
  return true;
}

void virtual_timeline::advance(duration by) {
  const auto end = now() + by;
  while (fire_next(end)) {
  }
  const std::lock_guard lock{mutex_};
  now_ = std::max(now_, end);
}

bool virtual_timeline::step() {
  return fire_next(time_point::max());
}

std::optional<time_point> virtual_timeline::next() const {
  const std::lock_guard lock{mutex_};
  return waiting_.empty() ? std::nullopt : std::optional{waiting_.begin()->first};
}

std::size_t virtual_timeline::pending() const {
  const std::lock_guard lock{mutex_};
  return waiting_.size();
}

namespace {

class real_timeline final : public timeline {
public:
  real_timeline() : state_{std::make_shared<state>()}, thread_{run, state_} {}

  ~real_timeline() override {
    {
      const std::lock_guard lock{state_->mutex};
      state_->closing = true;
    }
    state_->changed.notify_one();
    // The last owner may be a callback, which runs on the thread itself.
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }

  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
  void at(time_point when, callback fire) override {
    {
      const std::lock_guard lock{state_->mutex};
      state_->waiting.emplace(when, std::move(fire));
    }
    state_->changed.notify_one();
  }

private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::multimap<time_point, callback> waiting;
    bool closing = false;
  };

  static void run(const std::shared_ptr<state>& on) {
    name_this_thread("troupe.sim");
    std::unique_lock lock{on->mutex};
    while (true) {
      if (on->waiting.empty()) {
        if (on->closing)
          return;
        on->changed.wait(lock);
        continue;
      }
      const auto next = on->waiting.begin()->first;
      if (!on->closing && std::chrono::steady_clock::now() < next) {
        on->changed.wait_until(lock, next);
        continue;
      }
      {
        const auto fire = std::move(on->waiting.begin()->second);
        on->waiting.erase(on->waiting.begin());
        lock.unlock();
        fire();
      } // what it held is released before the lock is taken again
      lock.lock();
    }
  }

  std::shared_ptr<state> state_;
  std::thread thread_;
};

} // namespace

std::shared_ptr<timeline> make_real_timeline() {
  return std::make_shared<real_timeline>();
}

} // namespace troupe::sim
