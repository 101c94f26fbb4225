#pragma once

#include "kernels/cpu/spec.hpp"

#include <string>
#include <type_traits>

namespace troupe::cpu {

/// A table of rows and columns as ai.onnx.ml's operators read it: the last axis are the columns; a
/// tensor of rank 1 is one row.
struct table {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  [[nodiscard]] std::int64_t elements() const noexcept { return rows * columns; }
};

[[nodiscard]] inline table table_of(const tensor_desc& desc) {
  table made;
  if (!desc.dims.empty())
    made.columns = desc.dims.back();
  for (std::size_t axis = 0; axis + 1 < desc.dims.size(); ++axis)
    made.rows *= desc.dims[axis];
  return made;
}

/// Calls `use(type_tag<T>{})` for the types that these operators take: FP32, FP64, INT64, INT32;
/// false for others.
template <class Use>
bool visit_table(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32: use(type_tag<float>{}); return true;
    case dtype::float64: use(type_tag<double>{}); return true;
    case dtype::int64: use(type_tag<std::int64_t>{}); return true;
    case dtype::int32: use(type_tag<std::int32_t>{}); return true;
    default: return false;
  }
}

/// Makes a kernel from `make(type_tag<T>{})` for the type of input 0, or declines.
template <class Make>
made_kernel make_for_table(const kernel_spec& spec, const Make& make) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  made_kernel made = decline("input of {}", to_string(spec.inputs[0].desc.type));
  visit_table(spec.inputs[0].desc.type, [&](auto tag) { made = make(tag); });
  return made;
}

} // namespace troupe::cpu
