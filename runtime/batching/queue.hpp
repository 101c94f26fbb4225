#pragma once

// Requests waiting for one placement. Requests that may run together share a lane; within a lane
// the order is priority, then deadline, then arrival. Who has waited longer than the policy's aging
// time comes before all of them, in order of arrival. Not thread-safe: a batcher owns one.

#include "runtime/batching/policy.hpp"
#include "runtime/batching/shape_key.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::batching {

template <class Job>
class queue {
public:
  struct item {
    Job job;
    std::int64_t rows = 1;
    std::uint32_t priority = 1; ///< 1 = highest; 0 once it has aged
    time_point deadline{};
    time_point arrived{};
    time_point leave_by = time_point::max(); ///< end of its time in the queue
    std::uint64_t sequence = 0;              ///< set by push

    [[nodiscard]] time_point expiry() const noexcept { return std::min(deadline, leave_by); }
  };

  /// Priority of what comes after all others and does not age.
  static constexpr std::uint32_t last = ~std::uint32_t{0};

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void push(const shape_key& key, item waiting) {
    waiting.sequence = next_sequence_++;
    auto& into = lane_of(key);
    rows_ += waiting.rows;
    into.rows += waiting.rows;
    ++size_;
    into.oldest = into.items.empty() ? waiting.arrived : std::min(into.oldest, waiting.arrived);
    earliest_expiry_ = size_ == 1 ? waiting.expiry() : std::min(earliest_expiry_, waiting.expiry());
    ++of_priority_[waiting.priority];
    auto at = std::upper_bound(into.items.begin(), into.items.end(), waiting, before);
    into.items.insert(at, std::move(waiting));
  }

  /// The next batch that the policy closes at `now`: at most `max_rows` rows of one lane, or one
  /// larger request alone. Empty if nothing is to leave.
  [[nodiscard]] std::vector<item> take(const policy& rule, const device_view& device,
                                       time_point now) {
    return take(rule, device, now, [&](const shape_key&) { return rule.max_rows; });
  }

  /// The same where `most(key)` rows of a lane may run together instead of `max_rows`.
  template <class Most>
  [[nodiscard]] std::vector<item> take(const policy& rule, const device_view& device,
                                       time_point now, Most most) {
    return take(rule, device, now, most, [](const shape_key&, std::int64_t rows) { return rows; });
  }

  /// The same where only `worth(key, rows)` of the `rows` that could leave do.
  template <class Most, class Worth>
  [[nodiscard]] std::vector<item> take(const policy& rule, const device_view& device,
                                       time_point now, Most most, Worth worth) {
    auto chosen = lanes_.end();
    auto how = rule;
    for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
      age(lane->second, rule.aging, now);
      auto of_lane = rule;
      of_lane.max_rows = most(lane->first);
      if (should_close(of_lane, view(lane->second), device, now)
          && (chosen == lanes_.end()
              || ahead(rule, lane->second.items.front(), chosen->second.items.front()))) {
        chosen = lane;
        how = of_lane;
      }
    }
    std::vector<item> batch;
    if (chosen == lanes_.end())
      return batch;
    auto& items = chosen->second.items;
    how.max_rows = worth(chosen->first, std::min(how.max_rows, chosen->second.rows));
    const auto barrier = rule.preserve_ordering ? first_of_others(chosen) : next_sequence_;
    std::int64_t taken = 0;
    while (!items.empty() && (taken == 0 || taken + items.front().rows <= how.max_rows)
           && items.front().sequence <= barrier) {
      taken += items.front().rows;
      uncount(items.front());
      batch.push_back(std::move(items.front()));
      items.pop_front();
    }
    size_ -= batch.size();
    forget(chosen, taken);
    return batch;
  }

  /// Takes out every request for which `gone(item)` holds, in no particular order.
  template <class Predicate>
  std::vector<item> remove_if(Predicate gone) {
    std::vector<item> out;
    for (auto lane = lanes_.begin(); lane != lanes_.end();) {
      auto& items = lane->second.items;
      auto keep = std::stable_partition(items.begin(), items.end(),
                                        [&](const item& waiting) { return !gone(waiting); });
      std::int64_t left = 0;
      for (auto it = keep; it != items.end(); ++it) {
        left += it->rows;
        uncount(*it);
      }
      size_ -= static_cast<std::size_t>(std::distance(keep, items.end()));
      std::move(keep, items.end(), std::back_inserter(out));
      items.erase(keep, items.end());
      lane = forget(lane, left);
    }
    earliest_expiry_ = time_point::max();
    for (const auto& [key, lane] : lanes_)
      for (const auto& waiting : lane.items)
        earliest_expiry_ = std::min(earliest_expiry_, waiting.expiry());
    return out;
  }

  /// Expected time of everything that waits, each lane as one batch after the other, by
  /// `estimate(key, rows)`. With very many lanes they count as one.
  template <class Estimate>
  [[nodiscard]] duration work(Estimate estimate) const {
    constexpr std::size_t many = 16;
    if (lanes_.size() > many)
      return estimate(lanes_.begin()->first, rows_);
    duration sum{0};
    for (const auto& [key, lane] : lanes_)
      sum += estimate(key, lane.rows);
    return sum;
  }

  /// How many requests of this priority wait.
  [[nodiscard]] std::size_t count(std::uint32_t priority) const {
    const auto known = of_priority_.find(priority);
    return known == of_priority_.end() ? 0 : known->second;
  }

  /// Rows that go before `next` if it is pushed now.
  [[nodiscard]] std::int64_t rows_before(const item& next) const {
    std::int64_t rows = 0;
    for (const auto& [key, lane] : lanes_)
      for (const auto& waiting : lane.items)
        rows +=
            std::tie(waiting.priority, waiting.deadline) <= std::tie(next.priority, next.deadline)
                ? waiting.rows
                : 0;
    return rows;
  }

  /// When `take` should be asked again although nothing happened.
  [[nodiscard]] std::optional<time_point> next_close(const policy& rule,
                                                     const device_view& device) const {
    std::optional<time_point> first;
    for (const auto& [key, lane] : lanes_)
      if (auto at = next_deadline(rule, view(lane), device); at && (!first || *at < *first))
        first = at;
    return first;
  }

  /// No request expires before this; only a lower bound, because requests also leave.
  [[nodiscard]] std::optional<time_point> next_expiry() const {
    return size_ == 0 ? std::nullopt : std::optional{earliest_expiry_};
  }

private:
  struct lane_of_equals {
    std::deque<item> items;
    std::int64_t rows = 0;
    time_point oldest{};
  };
  using lane_map = std::unordered_map<shape_key, lane_of_equals, shape_key_hash>;

  static bool before(const item& a, const item& b) noexcept {
    if (a.priority == 0 && b.priority == 0)
      return a.sequence < b.sequence;
    return std::tie(a.priority, a.deadline, a.sequence)
           < std::tie(b.priority, b.deadline, b.sequence);
  }

  // Where requests come one at a time, their lane comes and goes with each: its memory stays.
  lane_of_equals& lane_of(const shape_key& key) {
    if (const auto known = lanes_.find(key); known != lanes_.end())
      return known->second;
    if (spare_.empty())
      return lanes_[key];
    spare_.key() = key;
    return lanes_.insert(std::move(spare_)).position->second;
  }

  void age(lane_of_equals& lane, duration after, time_point now) {
    if (after <= duration{0} || now - lane.oldest < after)
      return;
    bool changed = false;
    for (auto& waiting : lane.items) {
      if (waiting.priority == 0 || waiting.priority == last || now - waiting.arrived < after)
        continue;
      uncount(waiting);
      waiting.priority = 0;
      ++of_priority_[0];
      changed = true;
    }
    if (changed)
      std::stable_sort(lane.items.begin(), lane.items.end(), before);
  }

  void uncount(const item& leaving) {
    constexpr std::size_t few = 8; // those come again
    if (auto at = of_priority_.find(leaving.priority);
        --at->second == 0 && of_priority_.size() > few)
      of_priority_.erase(at);
  }

  static bool ahead(const policy& rule, const item& a, const item& b) noexcept {
    return rule.preserve_ordering ? a.sequence < b.sequence : before(a, b);
  }

  static queue_view view(const lane_of_equals& of) noexcept { return {of.rows, of.oldest}; }

  std::uint64_t first_of_others(typename lane_map::iterator chosen) const {
    auto first = next_sequence_;
    for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane)
      if (lane->first == chosen->first)
        continue;
      else
        for (const auto& waiting : lane->second.items)
          first = std::min(first, waiting.sequence);
    return first;
  }

  typename lane_map::iterator forget(typename lane_map::iterator at, std::int64_t rows) {
    rows_ -= rows;
    at->second.rows -= rows;
    const auto& items = at->second.items;
    if (items.empty()) {
      const auto next = std::next(at);
      spare_ = lanes_.extract(at);
      return next;
    }
    at->second.oldest = std::min_element(items.begin(), items.end(), [](auto& a, auto& b) {
                          return a.arrived < b.arrived;
                        })->arrived;
    return std::next(at);
  }

  lane_map lanes_;
  typename lane_map::node_type spare_; ///< empty, or one without requests
  std::unordered_map<std::uint32_t, std::size_t> of_priority_;
  std::int64_t rows_ = 0;
  std::size_t size_ = 0;
  std::uint64_t next_sequence_ = 0;
  time_point earliest_expiry_ = time_point::max();
};

} // namespace troupe::batching
