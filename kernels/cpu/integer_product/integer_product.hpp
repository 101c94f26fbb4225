#pragma once

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstdint>
#include <string>

namespace troupe::cpu {

/// Where the parameter (zero point or scale) of a row or column of a matrix in a stack lies: one
/// for all, one for each row or column, or one for each of every matrix.
struct parameter_places {
  std::int64_t matrix_stride = 0;
  std::int64_t stride = 0;

  [[nodiscard]] std::int64_t at(std::int64_t matrix, std::int64_t index) const noexcept {
    return matrix * matrix_stride + index * stride;
  }
};

/// For a parameter of `count` elements; the reason when that is no such number.
[[nodiscard]] tl::expected<parameter_places, std::string>
parameter_places_of(std::int64_t count, std::int64_t matrices, std::int64_t length);

/// A product of stacks of 8-bit matrices, numpy's way, less their zero points, summed in 32 bits
/// that wrap: the sums are exact whenever they fit.
struct integer_product {
  std::int64_t m = 1, n = 1, k = 1;
  iteration stacks;                                 ///< over whole matrices; operands: A, B
  std::size_t a = 0, b = 1, a_zero = 2, b_zero = 3; ///< inputs
  parameter_places a_zero_places;
  parameter_places b_zero_places;
  std::int64_t a_matrices = 1;
  std::int64_t b_matrices = 1;

  /// Which matrices of A and B make matrix `index` of the result.
  struct pair {
    std::int64_t a;
    std::int64_t b;
  };
  [[nodiscard]] pair matrices_of(std::int64_t index) const;

  [[nodiscard]] std::int64_t count() const noexcept { return stacks.outer() * stacks.inner(); }
};

/// Of the inputs numbered `a`, `b`, `a_zero` and `b_zero`, of which the zero points may be absent.
[[nodiscard]] tl::expected<integer_product, std::string>
integer_product_of(const kernel_spec& spec, std::size_t a, std::size_t b, std::size_t a_zero,
                   std::size_t b_zero);

/// Columns computed at a time.
inline constexpr std::int64_t tile_columns = 256;

/// sums[0, width) = the result's row `row` from `column` on, of the matrices `of`.
void integer_tile(const integer_product& product, const kernel_args& args, integer_product::pair of,
                  std::int64_t row, std::int64_t column, std::int64_t width, std::int32_t* sums);

/// Calls `store(row of all rows, pair, row in its matrix, first column, sums)` for all tiles of the
/// rows [begin, end) of the stacked results.
template <class Store>
void for_each_tile(const integer_product& product, const kernel_args& args, std::int64_t begin,
                   std::int64_t end, const Store& store) {
  std::int32_t sums[tile_columns];
  for (auto row = begin; row < end; ++row) {
    const auto of = product.matrices_of(row / product.m);
    for (std::int64_t column = 0; column < product.n; column += tile_columns) {
      const auto width = std::min(tile_columns, product.n - column);
      integer_tile(product, args, of, row % product.m, column, width, sums);
      store(row, of, row % product.m, column,
            std::span<const std::int32_t>{sums, static_cast<std::size_t>(width)});
    }
  }
}

} // namespace troupe::cpu
