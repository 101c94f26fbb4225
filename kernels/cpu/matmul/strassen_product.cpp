#include "kernels/cpu/matmul/strassen_product.hpp"

#include <utility>

namespace troupe::cpu::strassen {

using packed_product::plain_matrix;

product::product(packing packed, const fused_steps& then, std::int64_t rows_of_all,
                 std::int64_t rows_of_one)
    : right{std::move(packed)}, fused{then}, rows{rows_of_all},
      rows_of_item{rows_of_one}, rest{.right = right.rest,
                                      .fused = then,
                                      .rows = rows_of_all,
                                      .left_stride = right.inner,
                                      .out_stride = right.columns} {}

std::int64_t packing::size() const noexcept {
  return factors * quarter.size() + rest.size();
}

packing plan_packing(std::int64_t inner, std::int64_t columns) {
  const auto lanes = packed_product::vector_lanes();
  const auto half = columns / (2 * lanes) * lanes;
  packing made{.inner = inner, .columns = columns};
  if (inner % 2 != 0 || inner / 2 < lanes || half == 0)
    return made;
  made.quarter = packed_product::plan_packing(inner / 2, half);
  if (columns > 2 * half)
    made.rest = packed_product::plan_packing(inner, columns - 2 * half);
  return made;
}

void pack(const packing& of, const plain_matrix& matrix, float* to) {
  const auto& quarter = of.quarter;
  const auto at = [&](std::int64_t k, std::int64_t n) {
    return static_cast<double>(matrix.from[k * matrix.row_stride + n * matrix.column_stride]);
  };
  for (const auto& part : quarter.panels) {
    const auto width = part.vectors * quarter.lanes;
    const auto step = quarter.inner * width;
    for (std::int64_t k = 0; k < quarter.inner; ++k)
      for (std::int64_t i = 0; i < width; ++i) {
        const auto n = part.first + i;
        const double b11 = at(k, n);
        const double b12 = at(k, n + quarter.columns);
        const double b21 = at(k + quarter.inner, n);
        const double b22 = at(k + quarter.inner, n + quarter.columns);
        const double t2 = b22 - b12 + b11;
        const double sums[factors] = {b11, b21, t2, b12 - b11, b22, b22 - b12, b21 - t2};
        for (std::int64_t factor = 0; factor < factors; ++factor)
          to[factor * step + k * width + i] = static_cast<float>(sums[factor]);
      }
    to += factors * step;
  }
  if (of.rest.columns > 0)
    packed_product::pack(of.rest,
                         {matrix.from + 2 * quarter.columns * matrix.column_stride,
                          matrix.row_stride, matrix.column_stride},
                         to);
}

} // namespace troupe::cpu::strassen
