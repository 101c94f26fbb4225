#pragma once

#include <cstddef>

namespace troupe::cpu {

// Vectorised work on one row of `count` contiguous floats. Output rows may be the input rows. Sums
// are taken in several partial sums, so that they are at least as exact as a plain loop's.

/// y = exp(x - max x) / sum of the same. A row of zero elements is left alone.
void softmax_row(const float* x, float* y, std::size_t count) noexcept;

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; `bias` may be null. Two passes.
void normalize_row(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                   std::size_t count) noexcept;

[[nodiscard]] float sum_row(const float* x, std::size_t count) noexcept;

/// total += x
void add_row(const float* x, float* total, std::size_t count) noexcept;

/// y = x * factor
void scale_row(const float* x, float factor, float* y, std::size_t count) noexcept;

} // namespace troupe::cpu
