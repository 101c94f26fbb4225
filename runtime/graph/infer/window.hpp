#pragma once

#include "runtime/graph/infer/inference.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::graph {

/// How a window moves over the spatial axes: the attributes that convolutions and pools share.
struct window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads; ///< all begins, then all ends
  std::string auto_pad;           ///< "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"
  bool ceil = false;
};

/// Attributes of the node over `kernel.size()` axes, checked: strides and dilations positive, pads
/// not negative, each as many as axes.
[[nodiscard]] result<window> read_window(const inference& at, std::vector<std::int64_t> kernel);

/// Positions of the window along spatial axis `axis` of size `in`. In ceil mode a last window that
/// would start in the end padding is left out, as ONNX says since opset 19 and runtimes did before.
[[nodiscard]] result<dim> positions(const window& over, std::size_t axis, dim in, graph& symbols);

} // namespace troupe::graph
