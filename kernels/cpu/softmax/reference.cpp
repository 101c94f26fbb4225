// Before opset 13 the input is seen as a matrix cut at `axis` (default 1); since then one axis
// (default -1) is normalised. ONNX: Softmax-1, Softmax-11, Softmax-13, and LogSoftmax.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/softmax/softmax.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cpu {

tl::expected<softmax_rows, std::string> softmax_rows_of(const kernel_spec& spec) {
  const auto& dims = spec.inputs[0].desc.dims;
  const bool matrix = spec.version < 13;
  const auto written = spec.attributes->integer("axis", matrix ? 1 : -1);
  const bool at_end = matrix && written == static_cast<std::int64_t>(dims.size());
  const auto axis = at_end ? std::optional{dims.size()} : axis_index(written, dims.size());
  if (!axis && !(dims.empty() && (written == 0 || written == -1 || written == 1)))
    return decline("axis {} is out of range for rank {}", written, dims.size());
  softmax_rows rows;
  if (dims.empty())
    return rows;
  rows.outer = element_count({dims.data(), *axis});
  if (matrix) {
    rows.width = element_count({dims.data() + *axis, dims.size() - *axis});
  } else {
    rows.width = dims[*axis];
    rows.stride = element_count({dims.data() + *axis + 1, dims.size() - *axis - 1});
  }
  return rows;
}

made_kernel make_reference_softmax(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto rows = softmax_rows_of(spec);
  if (!rows)
    return tl::unexpected{std::move(rows).error()};
  const bool logarithm = spec.op_type == "LogSoftmax";
  return make_kernel({.overwrites = 1}, [rows = *rows, logarithm](const kernel_args& args) {
    for (std::int64_t row = 0; row < rows.outer * rows.stride; ++row) {
      const auto start = row / rows.stride * rows.width * rows.stride + row % rows.stride;
      const auto* x = args.inputs[0].as<const float>() + start;
      auto* y = args.outputs[0].as<float>() + start;
      float most = -std::numeric_limits<float>::infinity();
      for (std::int64_t i = 0; i < rows.width; ++i)
        most = std::max(most, x[i * rows.stride]);
      double sum = 0;
      for (std::int64_t i = 0; i < rows.width; ++i)
        sum += std::exp(static_cast<double>(x[i * rows.stride] - most));
      for (std::int64_t i = 0; i < rows.width; ++i) {
        const auto shifted = static_cast<double>(x[i * rows.stride] - most);
        y[i * rows.stride] =
            static_cast<float>(logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum);
      }
    }
  });
}

} // namespace troupe::cpu
