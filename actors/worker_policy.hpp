#pragma once

// How the scheduler's threads share the actors that have something to do: one queue for all, as in
// CAF's work sharing, with two differences. The first actor that an actor wakes is kept for the
// same thread, which goes on with it at once: a request passes from actor to actor without waking
// anybody. And who puts something into the queue wakes a thread only if one sleeps that nobody has
// woken yet. A thread that runs out of work looks on for some microseconds if that has paid lately:
// where the next request follows at once, it comes before the thread has fallen asleep.

#include "actors/long_turn.hpp"
#include "kernels/base/clock.hpp"

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe::actors {

/// For caf::scheduler::coordinator.
class worker_policy : public caf::policy::unprofiled {
public:
  /// Shared by all threads, under its lock.
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator* /*of*/) {}

    std::mutex lock;
    std::condition_variable wake;
    std::deque<caf::resumable*> ready;
    std::size_t asleep = 0;
    std::size_t called = 0;        ///< of those asleep: woken, but not here yet
    bool looking = false;          ///< a thread looks on before it sleeps
    std::atomic<bool> come{false}; ///< something, since it looks; written under the lock
  };

  /// Of one thread alone.
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator* /*of*/) {}

    caf::resumable* next = nullptr;
    int kept = 0;         ///< turns in a row that did not come from the queue
    duration patience{0}; ///< how long it looks on before it sleeps
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* of, caf::resumable* job) {
    auto& shared = d(of);
    if (our_queue_ == &shared && !our_own_->next && !long_turn::open())
      our_own_->next = job;
    else
      put(shared, job);
  }
  template <class Worker>
  void external_enqueue(Worker* to, caf::resumable* job) {
    put(d(to->parent()), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* to, caf::resumable* job) {
    central_enqueue(to->parent(), job);
  }
  /// It has had its share of messages: others first.
  template <class Worker>
  void resume_job_later(Worker* of, caf::resumable* job) {
    put(d(of->parent()), job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* by) {
    auto& shared = d(by->parent());
    auto& own = d(by);
    our_queue_ = &shared;
    our_own_ = &own;
    if (own.next && ++own.kept <= most_kept)
      return std::exchange(own.next, nullptr);
    std::unique_lock guard(shared.lock);
    own.kept = 0;
    if (auto* passed_over = std::exchange(own.next, nullptr))
      shared.ready.push_back(passed_over);
    if (shared.ready.empty() && own.patience > duration{0} && !shared.looking)
      look_on(shared, own, guard);
    while (shared.ready.empty())
      sleep(shared, own, guard);
    auto* job = shared.ready.front();
    shared.ready.pop_front();
    return job;
  }

  template <class Worker, class Release>
  void foreach_resumable(Worker* of, Release release) {
    if (auto* left = std::exchange(d(of).next, nullptr))
      release(left);
  }
  template <class Coordinator, class Release>
  void foreach_central_resumable(Coordinator* of, Release release) {
    std::deque<caf::resumable*> left;
    {
      const std::lock_guard guard(d(of).lock);
      left.swap(d(of).ready);
    }
    for (auto* job : left)
      release(job);
  }

private:
  static constexpr int most_kept = 32;
  static constexpr std::chrono::microseconds least_patience{4};
  static constexpr std::chrono::microseconds most_patience{30};

  // Gives way to whoever wants the core.
  static void look_on(coordinator_data& shared, worker_data& own,
                      std::unique_lock<std::mutex>& guard) {
    shared.looking = true;
    shared.come = false;
    guard.unlock();
    const auto until = std::chrono::steady_clock::now() + own.patience;
    while (!shared.come && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    guard.lock();
    shared.looking = false;
    own.patience = shared.ready.empty()
                       ? (own.patience > least_patience ? own.patience / 2 : duration{0})
                       : std::min<duration>(2 * own.patience, most_patience);
  }

  static void sleep(coordinator_data& shared, worker_data& own,
                    std::unique_lock<std::mutex>& guard) {
    const auto since = std::chrono::steady_clock::now();
    ++shared.asleep;
    shared.wake.wait(guard);
    --shared.asleep;
    if (shared.called > 0)
      --shared.called;
    if (std::chrono::steady_clock::now() - since < most_patience)
      own.patience = std::max<duration>(own.patience, least_patience);
  }

  static void put(coordinator_data& shared, caf::resumable* job) {
    const std::lock_guard guard(shared.lock);
    shared.ready.push_back(job);
    if (shared.looking && !shared.come) {
      shared.come = true;
    } else if (shared.asleep > shared.called) {
      ++shared.called;
      shared.wake.notify_one();
    }
  }

  // Where the calling thread belongs, if it is one of a scheduler's.
  static inline thread_local coordinator_data* our_queue_ = nullptr;
  static inline thread_local worker_data* our_own_ = nullptr;
};

} // namespace troupe::actors
