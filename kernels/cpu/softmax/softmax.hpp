#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

/// The rows that Softmax normalises: `outer * stride` of them, each `width` elements that lie
/// `stride` apart.
struct softmax_rows {
  std::int64_t outer = 1;
  std::int64_t width = 1;
  std::int64_t stride = 1;
};

/// From the axis, by the rule of the node's opset version.
[[nodiscard]] tl::expected<softmax_rows, std::string> softmax_rows_of(const kernel_spec& spec);

} // namespace troupe::cpu
