#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/conv/geometry.hpp"

#include <optional>

namespace troupe::cpu {

/// out[rows, columns] = left[rows, inner] * right[inner, columns] with a constant right-hand side
/// whose element (k, n) lies at `k * row_stride + n * column_stride`; left and out are contiguous.
struct packed_request {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::shared_ptr<const tensor> right;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  std::optional<std::size_t> bias = {}; ///< input with a value per column
  bool columns_last = false;            ///< the last axis of the output is that of the columns
  std::int64_t items = 1; ///< images or sequences that the rows belong to, as many to each
};

/// A product on weights that are packed once for any number of rows. Honours post-ops or declines.
[[nodiscard]] made_kernel make_packed_kernel(const kernel_spec& spec, weight_cache& weights,
                                             const packed_request& wanted);

/// The same by Strassen's scheme: an eighth fewer multiplications, results of about twice the
/// rounding error. Declines what is too small to gain from it.
[[nodiscard]] made_kernel make_strassen_kernel(const kernel_spec& spec, weight_cache& weights,
                                               const packed_request& wanted);

/// What a convolution with a 1x1 window asks of a product over the positions it reads.
[[nodiscard]] packed_request pointwise_request(const conv_geometry& conv, const kernel_spec& spec);

// The candidates made of them.

/// MatMul by a constant matrix, float32 in row-major order.
made_kernel make_packed_matmul(const kernel_spec& spec, weight_cache& weights);
/// Gemm by a constant B, not transposed on the left, without factors, with a row for C or none.
made_kernel make_packed_gemm(const kernel_spec& spec, weight_cache& weights);
/// Conv whose window is a single element of stride 1.
made_kernel make_packed_pointwise_conv(const kernel_spec& spec, weight_cache& weights);

made_kernel make_strassen_matmul(const kernel_spec& spec, weight_cache& weights);
made_kernel make_strassen_pointwise_conv(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
