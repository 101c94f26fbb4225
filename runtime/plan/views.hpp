#pragma once

#include "kernels/tensor/tensor.hpp"
#include "runtime/graph/graph.hpp"

#include <optional>
#include <span>

namespace troupe::plan {

/// Whether `dims` in both layouts is the same sequence of bytes, as for [N,C,1,1] row-major and
/// channels-last.
[[nodiscard]] bool same_bytes(std::span<const std::int64_t> dims, layout one, layout other);

/// Whether `of` only renames the bytes of its first input, which lies in memory as `input` says;
/// then the layout in which the output, of dims `output`, is those very bytes. Knows Identity,
/// Dropout, Reshape, Flatten, Squeeze, Unsqueeze and Transpose.
[[nodiscard]] std::optional<layout> view_layout(const graph::node& of, const tensor_desc& input,
                                                std::span<const std::int64_t> output);

} // namespace troupe::plan
