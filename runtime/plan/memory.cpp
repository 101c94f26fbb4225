#include "runtime/plan/memory.hpp"

#include "kernels/tensor/shared_bytes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace troupe::plan {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

struct range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Start of the smallest gap of at least `bytes` between the taken ranges, else their end.
std::size_t best_gap(std::vector<range>& taken, std::size_t bytes) {
  std::ranges::sort(taken, {}, &range::begin);
  auto best = std::numeric_limits<std::size_t>::max();
  std::size_t at = 0;
  std::size_t filled = 0;
  for (const auto& next : taken) {
    if (next.begin >= filled + bytes && next.begin - filled < best) {
      best = next.begin - filled;
      at = filled;
    }
    filled = std::max(filled, next.end);
  }
  return best == std::numeric_limits<std::size_t>::max() ? filled : at;
}

} // namespace

packing pack(std::span<const lifetime> blocks) {
  packing made;
  made.offsets.assign(blocks.size(), 0);
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<std::size_t> placed;
  std::vector<range> taken;
  for (auto index : order) {
    const auto& block = blocks[index];
    if (block.bytes == 0)
      continue;
    taken.clear();
    for (auto other : placed)
      if (blocks[other].first <= block.last && block.first <= blocks[other].last)
        taken.push_back({made.offsets[other], made.offsets[other] + aligned(blocks[other].bytes)});
    made.offsets[index] = best_gap(taken, aligned(block.bytes));
    made.total = std::max(made.total, made.offsets[index] + aligned(block.bytes));
    placed.push_back(index);
  }
  return made;
}

std::size_t live_bound(std::span<const lifetime> blocks) {
  // How much the sum grows at each step; what ends at a step is still there during it.
  std::map<std::size_t, std::ptrdiff_t> change;
  for (const auto& block : blocks) {
    const auto bytes = static_cast<std::ptrdiff_t>(aligned(block.bytes));
    change[block.first] += bytes;
    change[block.last + 1] -= bytes;
  }
  std::ptrdiff_t alive = 0;
  std::ptrdiff_t most = 0;
  for (const auto& [step, bytes] : change) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return static_cast<std::size_t>(most);
}

} // namespace troupe::plan
