#pragma once

#include "kernels/base/result.hpp"
#include "kernels/op/attributes.hpp"
#include "kernels/tensor/shape.hpp"

#include <cstdint>
#include <span>

namespace troupe {

/// One spatial axis of a sliding window: what Conv, ConvTranspose and the pooling operators share.
struct window_axis {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0; ///< as declared; `ceil_mode` may let the last window reach further

  /// Input elements that a window spans.
  [[nodiscard]] std::int64_t span() const noexcept { return dilation * (kernel - 1) + 1; }
};

using window = small_vector<window_axis, 3>;

/// The window of Conv, MaxPool and AveragePool (ONNX operator set 1 to 22) over the spatial axes of
/// an input of `dims` (N, C, …): reads strides, dilations, pads, auto_pad, ceil_mode and, where
/// `kernel_dims` is empty, kernel_shape. invalid_argument when attributes and ranks disagree or a
/// window does not fit.
[[nodiscard]] result<window> sliding_window(const attribute_map& attributes,
                                            std::span<const std::int64_t> dims,
                                            std::span<const std::int64_t> kernel_dims);

/// The same for ConvTranspose, where `output` follows from strides, output_padding and
/// output_shape.
[[nodiscard]] result<window> transposed_window(const attribute_map& attributes,
                                               std::span<const std::int64_t> dims,
                                               std::span<const std::int64_t> kernel_dims);

} // namespace troupe
