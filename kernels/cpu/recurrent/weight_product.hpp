#pragma once

#include "kernels/cpu/onednn.hpp"

#include <memory>

namespace troupe::cpu::onednn {

/// Rows [first, first + columns) of a weight, each of `inner` elements.
struct weight_rows {
  std::shared_ptr<const tensor> weight;
  std::int64_t first = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
};

/// A FP32 matrix times the transpose of such rows, packed for it: [rows, inner] to [rows, columns].
class weight_product {
public:
  [[nodiscard]] static attempted<weight_product> make(std::int64_t rows, const weight_rows& from,
                                                      weight_cache& weights);

  /// Bytes that `run` needs to work with, aligned as a kernel's workspace is.
  [[nodiscard]] std::size_t scratch() const noexcept { return scratch_; }

  /// Any thread.
  [[nodiscard]] result<void> run(const float* left, float* out, std::byte* scratch) const;

private:
  std::unique_ptr<const bound_primitive> primitive_;
  shared_bytes weight_;
  std::size_t scratch_ = 0;
};

} // namespace troupe::cpu::onednn
