#include "kernels/cpu/attention/blocks.hpp"

#include "kernels/cpu/matmul/packed_product.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace troupe::cpu::attention_blocks {

namespace {

constexpr std::int64_t line = 16;      // floats
constexpr std::int64_t crowding = 512; // rows this far apart share their places in the cache

std::int64_t rounded(std::int64_t count, std::int64_t to) {
  return (count + to - 1) / to * to;
}

} // namespace

std::int64_t problem::blocks() const noexcept {
  return (queries + block_rows - 1) / block_rows;
}

std::int64_t problem::members(int threads) const noexcept {
  return std::clamp<std::int64_t>(items(), 1, std::max(threads, 1));
}

room room_for(const problem& of) noexcept {
  const auto lanes = packed_product::vector_lanes();
  const auto rows = std::min(block_rows, of.queries);
  room made;
  made.pitch = rounded(of.keys, std::max(lanes, line));
  if (made.pitch % crowding == 0)
    made.pitch += line;
  made.value_pitch = rounded(of.value_size, lanes);
  if (!of.in_place()) {
    made.keys = rounded(rounded(of.keys, lanes) * of.size, line);
    made.values = rounded(of.keys * made.value_pitch, line);
  }
  made.scores = rows * made.pitch;
  made.results = rounded(rows * made.value_pitch, line);
  return made;
}

std::int64_t problem::workspace() const noexcept {
  const auto parts = room_for(*this);
  return parts.keys + parts.values + parts.scores + parts.results;
}

void run(const problem& of, const tensors& with, int threads, float* workspace) {
  const auto members = of.members(threads);
  const auto items = of.items();
  const auto size = of.workspace();
  const auto rows = of.batch * of.heads * of.queries;
  const auto cost = rows * of.keys * (of.size + of.value_size) / members / 16;
  parallel_for(threads, members, cost, [&](std::int64_t begin, std::int64_t end) {
    for (auto member = begin; member < end; ++member)
      run_items(of, with, items * member / members, items * (member + 1) / members,
                workspace + member * size);
  });
}

} // namespace troupe::cpu::attention_blocks
