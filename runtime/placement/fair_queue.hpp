#pragma once

// Who is next on a device that several models share. Deficit round robin (Shreedhar and Varghese,
// 1995) with time as the cost: each flow earns the same time in each round and pays with what its
// batches are expected to take, corrected by what they took. A model of short batches runs many of
// them for each long one of its neighbour's.

#include "kernels/base/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::placement {

/// Not thread-safe.
template <class Item>
class fair_queue {
public:
  using flow_id = std::uint32_t;

  /// `cost` is what the item is expected to take. A flow of twice the `share` gets twice the time.
  void push(flow_id flow, Item item, duration cost, double share = 1) {
    auto& into = flow_of(flow);
    into.share = std::max(share, least_share);
    into.waiting.push_back({std::move(item), std::max(cost, duration{1})});
    ++size_;
  }

  /// The next item for which `take(item)` holds: asked of the first of a flow alone, in the order
  /// in which flows are due. One that is not taken keeps its place, and its flow what it earned.
  template <class Take>
  std::optional<Item> pop(Take take) {
    std::vector<std::size_t> passed_over;
    while (const auto due = next_due(passed_over)) {
      if (!take(flows_[*due].waiting.front().item)) {
        passed_over.push_back(*due);
        continue;
      }
      return leave(*due, passed_over);
    }
    return std::nullopt;
  }

  /// An item that was popped is through. It was expected to take `expected` and took `took`.
  void ended(flow_id flow, duration expected, duration took) {
    const auto at =
        std::find_if(flows_.begin(), flows_.end(), [&](const auto& one) { return one.id == flow; });
    if (at == flows_.end())
      return;
    --at->running;
    at->credit -= static_cast<double>((took - expected).count());
    if (at->running > 0 || !at->waiting.empty())
      return;
    // Who has nothing to do neither saves time up nor owes any.
    const auto index = static_cast<std::size_t>(at - flows_.begin());
    spare_ = std::move(at->waiting);
    flows_.erase(at);
    if (turn_ > index)
      --turn_;
    if (turn_ >= flows_.size())
      turn_ = 0;
  }

  /// Waiting items.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Flows with something that waits or runs.
  [[nodiscard]] std::size_t flows() const noexcept { return flows_.size(); }

private:
  static constexpr double least_share = 1.0 / 1024;

  struct entry {
    Item item;
    duration cost{};
  };
  struct backlog {
    flow_id id = 0;
    double share = 1;
    double credit = 0; ///< nanoseconds
    int running = 0;
    std::vector<entry> waiting; ///< few: one batcher's

    [[nodiscard]] double cost() const noexcept {
      return static_cast<double>(waiting.front().cost.count());
    }
  };

  backlog& flow_of(flow_id id) {
    for (auto& one : flows_)
      if (one.id == id)
        return one;
    return flows_.emplace_back(backlog{id, 1, 0, 0, std::exchange(spare_, {})});
  }

  // Rounds that a flow has yet to earn in before it can pay; whole ones.
  static double rounds(const backlog& of, double quantum) {
    return std::max(0.0, std::ceil((of.cost() - of.credit) / (quantum * of.share)));
  }

  double quantum() const {
    double most = 1;
    for (const auto& one : flows_)
      if (!one.waiting.empty())
        most = std::max(most, one.cost());
    return most;
  }

  // Instead of turning round after round: who can pay after the fewest, in the order of turns.
  std::optional<std::size_t> next_due(const std::vector<std::size_t>& passed_over) const {
    std::optional<std::size_t> due;
    double fewest = 0;
    const auto earned = quantum();
    for (std::size_t step = 0; step < flows_.size(); ++step) {
      const auto index = (turn_ + step) % flows_.size();
      if (flows_[index].waiting.empty() || std::ranges::count(passed_over, index) > 0)
        continue;
      const auto needed = rounds(flows_[index], earned);
      if (!due || needed < fewest) {
        due = index;
        fewest = needed;
      }
    }
    return due;
  }

  Item leave(std::size_t index, const std::vector<std::size_t>& passed_over) {
    const auto earned = quantum();
    const auto turns = rounds(flows_[index], earned);
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (!flows_[i].waiting.empty() && std::ranges::count(passed_over, i) == 0)
        flows_[i].credit += turns * earned * flows_[i].share;
    auto& from = flows_[index];
    from.credit -= from.cost();
    auto item = std::move(from.waiting.front().item);
    from.waiting.erase(from.waiting.begin());
    ++from.running;
    --size_;
    turn_ = index;
    return item;
  }

  std::vector<backlog> flows_; ///< in the order of their turns
  std::vector<entry> spare_;   ///< the memory of a flow that went, for the next
  std::size_t turn_ = 0;
  std::size_t size_ = 0;
};

} // namespace troupe::placement
