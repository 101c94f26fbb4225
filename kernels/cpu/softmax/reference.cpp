// Before opset 13 the input is seen as a matrix cut at `axis` (default 1); since then one axis
// (default -1) is normalised. ONNX: Softmax-1, Softmax-11, Softmax-13, LogSoftmax and Hardmax
// alike.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
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

namespace {

// Where the row's element i lies: start + i * stride.
template <class Row>
void for_each_softmax_row(const softmax_rows& rows, const Row& row) {
  for (std::int64_t index = 0; index < rows.outer * rows.stride; ++index)
    row(index / rows.stride * rows.width * rows.stride + index % rows.stride);
}

template <class T>
void normalize(const softmax_rows& rows, bool logarithm, const T* x, T* y) {
  const auto value = [](T of) { return static_cast<double>(static_cast<computed<T>>(of)); };
  const auto store = [](double of) { return static_cast<T>(static_cast<computed<T>>(of)); };
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < rows.width; ++i)
    most = std::max(most, value(x[i * rows.stride]));
  double sum = 0;
  for (std::int64_t i = 0; i < rows.width; ++i)
    sum += std::exp(value(x[i * rows.stride]) - most);
  for (std::int64_t i = 0; i < rows.width; ++i) {
    const auto shifted = value(x[i * rows.stride]) - most;
    y[i * rows.stride] = store(logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum);
  }
}

// 1 at the first of the largest elements, 0 elsewhere.
template <class T>
void mark_largest(const softmax_rows& rows, const T* x, T* y) {
  std::int64_t largest = 0;
  for (std::int64_t i = 1; i < rows.width; ++i)
    if (static_cast<computed<T>>(x[i * rows.stride])
        > static_cast<computed<T>>(x[largest * rows.stride]))
      largest = i;
  for (std::int64_t i = 0; i < rows.width; ++i)
    y[i * rows.stride] = static_cast<T>(static_cast<computed<T>>(i == largest ? 1 : 0));
}

} // namespace

made_kernel make_reference_softmax(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto rows = softmax_rows_of(spec);
  if (!rows)
    return tl::unexpected{std::move(rows).error()};
  const bool logarithm = spec.op_type == "LogSoftmax";
  const bool hard = spec.op_type == "Hardmax";
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.overwrites = 1}, [rows = *rows, logarithm, hard](const kernel_args& args) {
      for_each_softmax_row(rows, [&](std::int64_t start) {
        const auto* x = args.inputs[0].template as<const element>() + start;
        auto* y = args.outputs[0].template as<element>() + start;
        if (hard)
          mark_largest(rows, x, y);
        else
          normalize(rows, logarithm, x, y);
      });
    });
  });
}

} // namespace troupe::cpu
