#pragma once

#include <cstdint>

namespace troupe::cpu {

/// to[i] = the sum of from[row * stride + i] over all rows, for i in [0, count). The same order of
/// additions for the same `rows` and `count`.
void fold_rows(const float* from, std::int64_t stride, std::int64_t rows, float* to,
               std::int64_t count) noexcept;

} // namespace troupe::cpu
