#pragma once

// The sequences of one placement. A step leaves when the one before it has run; a sequence begins
// when it has a slot and memory for its state; what does not run takes its sequence with it. Asked
// to do something, the table notes what follows for others (`due`, `wanted`, `dropped`); whoever
// owns it looks there afterwards. Not thread-safe: a batcher owns one.

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"
#include "runtime/sequences/homes.hpp"
#include "runtime/sequences/sequence_id.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::sequences {

/// `Job` is compared; `Memory` is a pointer to a sequence's state.
template <class Job, class Memory>
class table {
public:
  struct limits {
    std::size_t slots = 1; ///< sequences under way at once; further ones wait to begin
    duration max_idle{0};
    bool needs_memory = false;
  };
  struct step {
    Job job;
    std::uint64_t generation = 0; ///< of its sequence
    bool start = false;
    bool end = false;
    homes::hold hold{}; ///< of a start
  };
  /// A step that may run now, on this state.
  struct due_step {
    Job job;
    Memory memory;
  };
  /// A sequence that waits for memory.
  struct memory_wish {
    sequence_id of;
    std::uint64_t number = 0;
  };
  /// A step that is not going to run, and why.
  struct dropped_step {
    Job job;
    error why;
  };

  explicit table(limits with) : limits_(with) {}

  /// A step arrived. failed_precondition if its sequence is not live here. A start under the id of
  /// a live sequence ends that one behind its last step.
  [[nodiscard]] result<void> add(const sequence_id& id, step arrived, time_point now) {
    auto at = live_.find(id);
    if (!arrived.start && (at == live_.end() || at->second.newest != arrived.generation))
      return fail(errc::failed_precondition,
                  "sequence {} is not live here: it ended, or a step of it was lost; begin it with "
                  "sequence_start",
                  to_text(id));
    if (!arrived.start && at->second.closed)
      return fail(errc::failed_precondition, "sequence {} has had its last step", to_text(id));
    if (at == live_.end()) {
      at = live_.try_emplace(id).first;
      if (used_ < limits_.slots)
        take_slot(at->second);
      else
        waiting_for_slot_.push_back(id);
    }
    auto& one = at->second;
    if (arrived.start)
      one.newest = arrived.generation;
    one.closed = arrived.end;
    one.last = now;
    one.waiting.push_back(std::move(arrived));
    count(one, 1);
    advance(at);
    return {};
  }

  /// The step that was due last is over. If it did not run as it should, its sequence is lost.
  void ended(const sequence_id& id, std::uint64_t generation, bool ran, time_point now) {
    const auto at = live_.find(id);
    if (at == live_.end() || !at->second.running || at->second.generation != generation)
      return; // of a sequence that was lost before
    auto& one = at->second;
    one.running = false;
    one.last = now;
    if (!ran)
      return lose(at);
    if (std::exchange(one.last_step, false)) {
      one.hold = {};
      one.generation = 0;
      if (one.waiting.empty())
        return erase(at);
    }
    advance(at);
  }

  /// A job is not going to run: if it waits here, its sequence is lost.
  void withdraw(const sequence_id& id, const Job& unwanted) {
    const auto at = live_.find(id);
    if (at == live_.end())
      return;
    auto& steps = at->second.waiting;
    const auto gone = std::find_if(steps.begin(), steps.end(),
                                   [&](const auto& one) { return one.job == unwanted; });
    if (gone != steps.end())
      lose_around(at, gone);
  }

  /// A step did not get here that should have come next: its sequence is lost.
  void abandon(const sequence_id& id, std::uint64_t generation) {
    const auto at = live_.find(id);
    if (at != live_.end() && at->second.newest == generation)
      lose_around(at, at->second.waiting.end());
  }

  /// Memory for the sequence that wished for it; too late, it is let go.
  void lend(const memory_wish& to, Memory block) {
    const auto at = wishing(to);
    if (at == live_.end())
      return;
    at->second.memory = std::move(block);
    advance(at);
  }
  /// There is none: its start is dropped with this error.
  void refuse(const memory_wish& to, error why) {
    const auto at = wishing(to);
    if (at == live_.end())
      return;
    dropped_.push_back({std::move(at->second.waiting.front().job), std::move(why)});
    at->second.waiting.pop_front();
    count(at->second, -1);
    lose(at);
  }

  /// Ends every sequence that has begun, with its steps that wait: their states are not to be
  /// trusted any more.
  void lose_all() {
    std::vector<std::pair<sequence_id, std::uint64_t>> begun;
    for (const auto& [id, one] : live_)
      if (one.generation != 0)
        begun.emplace_back(id, one.generation);
    for (const auto& [id, generation] : begun)
      if (const auto at = live_.find(id); at->second.generation == generation)
        lose(at);
  }

  /// Ends everything and drops all steps that wait.
  void clear(const error& why) {
    for (auto& [id, one] : live_)
      for (auto& each : one.waiting)
        dropped_.push_back({std::move(each.job), why});
    live_.clear();
    waiting_for_slot_.clear();
    used_ = waiting_ = without_slot_ = 0;
  }

  /// Ends sequences that have been idle for too long; when to look again.
  [[nodiscard]] std::optional<time_point> expire(time_point now) {
    if (now >= look_again_) {
      look_again_ = now + limits_.max_idle; // what is at work now is not idle for so long before
      for (auto at = live_.begin(); at != live_.end();) {
        const auto one = at++;
        if (one->second.running || !one->second.waiting.empty())
          continue;
        const auto due = one->second.last + limits_.max_idle;
        if (due <= now)
          erase(one);
        else
          look_again_ = std::min(look_again_, due);
      }
    }
    return live_.empty() ? std::nullopt : std::optional{look_again_};
  }

  // What follows, in order; taken out.
  [[nodiscard]] std::vector<due_step> take_due() { return std::exchange(due_, {}); }
  [[nodiscard]] std::vector<memory_wish> take_wishes() { return std::exchange(wishes_, {}); }
  [[nodiscard]] std::vector<dropped_step> take_dropped() { return std::exchange(dropped_, {}); }

  [[nodiscard]] bool empty() const noexcept { return live_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return live_.size(); }
  /// Steps that wait for the one before them, for a slot or for memory.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  /// Those of them that wait for a slot.
  [[nodiscard]] std::size_t without_slot() const noexcept { return without_slot_; }
  /// Whether a start would have to wait for one.
  [[nodiscard]] bool full() const noexcept { return used_ >= limits_.slots; }

private:
  struct entry {
    std::uint64_t generation = 0; ///< of what is under way
    std::uint64_t newest = 0;     ///< of what the last step that came belongs to; 0: of no more
    bool closed = false;          ///< and that was its last one
    bool has_slot = false;
    bool running = false;   ///< a step of it is due or runs
    bool last_step = false; ///< and it is the last one
    std::uint64_t wish = 0; ///< number of its wish for memory; 0: none
    Memory memory{};
    homes::hold hold;
    std::deque<step> waiting;
    time_point last{};
  };
  using entries = std::map<sequence_id, entry>;

  static error lost(const sequence_id& id) {
    return {errc::failed_precondition,
            fmt::format("sequence {}: another step of it did not run, begin it anew", to_text(id))};
  }

  typename entries::iterator wishing(const memory_wish& to) {
    const auto at = live_.find(to.of);
    if (at == live_.end() || at->second.wish != to.number)
      return live_.end();
    at->second.wish = 0;
    return at;
  }

  void take_slot(entry& one) {
    without_slot_ -= one.waiting.size();
    one.has_slot = true;
    ++used_;
  }

  void count(const entry& of, std::ptrdiff_t more) {
    waiting_ += static_cast<std::size_t>(more);
    if (!of.has_slot)
      without_slot_ += static_cast<std::size_t>(more);
  }

  void advance(typename entries::iterator at) {
    auto& one = at->second;
    if (one.running || one.waiting.empty() || !one.has_slot || one.wish != 0)
      return;
    if (limits_.needs_memory && !one.memory) {
      one.wish = ++last_wish_;
      wishes_.push_back({at->first, one.wish});
      return;
    }
    auto next = std::move(one.waiting.front());
    one.waiting.pop_front();
    count(one, -1);
    if (next.start) {
      one.generation = next.generation;
      one.hold = std::move(next.hold);
    }
    one.running = true;
    one.last_step = next.end;
    due_.push_back({std::move(next.job), one.memory});
  }

  // The sequence that a waiting step belongs to is lost, and its other steps are dropped; the end
  // stands for a step behind them all.
  void lose_around(typename entries::iterator at, typename std::deque<step>::iterator lost_step) {
    auto& one = at->second;
    auto& steps = one.waiting;
    auto from = lost_step;
    while (from != steps.begin() && (from == steps.end() || !from->start))
      --from;
    auto until = lost_step;
    if (until != steps.end())
      until = std::find_if(until + 1, steps.end(), [](const auto& each) { return each.start; });
    const bool under_way = from == steps.end() || !from->start;
    if (until == steps.end()) {
      one.newest = 0;
      one.closed = false;
    }
    for (auto each = from; each != until; ++each)
      if (each != lost_step)
        dropped_.push_back({std::move(each->job), lost(at->first)});
    count(one, from - until);
    steps.erase(from, until);
    if (under_way)
      stop(at);
    else if (steps.empty() && !one.running && one.generation == 0)
      erase(at);
  }

  // What is under way is lost, with its steps up to the next start.
  void lose(typename entries::iterator at) {
    auto& one = at->second;
    const auto why = lost(at->first);
    while (!one.waiting.empty() && !one.waiting.front().start) {
      dropped_.push_back({std::move(one.waiting.front().job), why});
      one.waiting.pop_front();
      count(one, -1);
    }
    stop(at);
  }

  // A step may still be at work on the old state: what begins next gets a block of its own.
  void stop(typename entries::iterator at) {
    auto& one = at->second;
    one.hold = {};
    one.generation = 0;
    one.running = one.last_step = false;
    one.memory = {};
    if (one.waiting.empty())
      return erase(at);
    advance(at);
  }

  void erase(typename entries::iterator at) {
    const bool had_slot = at->second.has_slot;
    if (!had_slot)
      std::erase(waiting_for_slot_, at->first);
    count(at->second, -static_cast<std::ptrdiff_t>(at->second.waiting.size()));
    live_.erase(at);
    if (!had_slot)
      return;
    --used_;
    while (used_ < limits_.slots && !waiting_for_slot_.empty()) {
      const auto next = live_.find(waiting_for_slot_.front());
      waiting_for_slot_.pop_front();
      take_slot(next->second);
      advance(next);
    }
  }

  limits limits_;
  entries live_;
  std::deque<sequence_id> waiting_for_slot_; ///< in the order in which they came
  std::size_t used_ = 0;                     ///< slots
  std::size_t waiting_ = 0;
  std::size_t without_slot_ = 0;
  std::uint64_t last_wish_ = 0;
  time_point look_again_ = time_point::min(); ///< nothing has been idle for too long before
  std::vector<due_step> due_;
  std::vector<memory_wish> wishes_;
  std::vector<dropped_step> dropped_;
};

} // namespace troupe::sequences
