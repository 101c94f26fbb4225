#include "kernels/cpu/matmul/packed_product.hpp"

#include <algorithm>

namespace troupe::cpu::packed_product {
namespace {

// Rows this far apart share their places in the first-level cache: few should be read at a time.
constexpr std::int64_t crowding = 512; // floats

// Cuts columns, counted in vectors, so that as few panels as possible are narrower than the best.
std::vector<panel> cut(std::int64_t vectors, std::int64_t inner) {
  const auto [wide, narrow] = best_vectors();
  std::int64_t wides = vectors / wide;
  if (wide != narrow) {
    const bool fits_wide = vectors % wide == 0 && (vectors % narrow != 0 || inner % crowding == 0);
    if (!fits_wide)
      wides = std::min(vectors % narrow, vectors / wide);
  }
  std::vector<panel> panels;
  const auto lanes = vector_lanes();
  for (std::int64_t left = vectors; left > 0; left -= panels.back().vectors) {
    const auto best = static_cast<std::int64_t>(panels.size()) < wides ? wide : narrow;
    panels.push_back({(vectors - left) * lanes, std::min(best, left)});
  }
  return panels;
}

} // namespace

std::int64_t packing::size() const noexcept {
  std::int64_t vectors = 0;
  for (const auto& part : panels)
    vectors += part.vectors;
  return vectors * lanes * inner;
}

packing plan_packing(std::int64_t inner, std::int64_t columns) {
  const auto lanes = vector_lanes();
  return {.inner = inner,
          .columns = columns,
          .lanes = lanes,
          .panels = cut((columns + lanes - 1) / lanes, inner)};
}

void pack(const packing& of, const plain_matrix& matrix, float* to) {
  std::fill_n(to, of.size(), 0.0F);
  for (const auto& part : of.panels) {
    const auto width = part.vectors * of.lanes;
    const auto count = std::min(width, of.columns - part.first);
    for (std::int64_t k = 0; k < of.inner; ++k, to += width) {
      const float* from = matrix.from + k * matrix.row_stride + part.first * matrix.column_stride;
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = from[i * matrix.column_stride];
    }
  }
}

std::int64_t product::workspace() const noexcept {
  return least_rows * best_vectors().wide * right.lanes;
}

} // namespace troupe::cpu::packed_product
