#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace troupe::pipeline {

/// Whether data and sizes of a tensor agree; BYTES is looked through.
[[nodiscard]] result<void> check_payload(const tensor& of);

/// Cuts a tensor into rows, which share its memory.
class row_cutter {
public:
  /// invalid_argument for a scalar. Of a tensor that `check_payload` has passed.
  [[nodiscard]] static result<row_cutter> over(tensor whole);

  [[nodiscard]] std::int64_t rows() const noexcept { return whole_.dims[0]; }
  /// Within `rows()`.
  [[nodiscard]] tensor cut(std::int64_t first, std::int64_t count) const;

private:
  explicit row_cutter(tensor whole) : whole_(std::move(whole)) {}

  tensor whole_;
  std::vector<std::size_t>
      begins_; ///< of BYTES that has elements: where each row begins, and the end
};

} // namespace troupe::pipeline
