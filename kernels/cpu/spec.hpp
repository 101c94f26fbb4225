#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/tensor/half.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace troupe::cpu {

[[nodiscard]] inline bool has_input(const kernel_spec& spec, std::size_t index) {
  return index < spec.inputs.size() && spec.inputs[index].present;
}

/// How many of the inputs are the operator's own; those of post-ops stand behind. A kernel that
/// fuses post-ops asks this before it looks at an optional input.
[[nodiscard]] std::size_t own_inputs(const kernel_spec& spec);

[[nodiscard]] inline bool has_output(const kernel_spec& spec, std::size_t index) {
  return index < spec.outputs.size()
         && (index >= spec.outputs_wanted.size() || spec.outputs_wanted[index]);
}

[[nodiscard]] inline bool has_data(const kernel_args& args, std::size_t index) {
  return index < args.inputs.size() && args.inputs[index].data != nullptr;
}

/// An axis as written (from -rank to rank - 1) as an index; empty when it is out of range.
[[nodiscard]] std::optional<std::size_t> axis_index(std::int64_t axis, std::size_t rank);

/// Why a kernel for strided float32 tensors cannot take the node, or nothing: an input or output of
/// another type or of a blocked layout. Only the first `inputs` inputs are looked at.
[[nodiscard]] std::optional<std::string> not_plain_float(const kernel_spec& spec,
                                                         std::size_t inputs = 64);

/// As above for the layout alone.
[[nodiscard]] std::optional<std::string> not_strided(const kernel_spec& spec);

/// Why any tensor is not row-major, or nothing.
[[nodiscard]] std::optional<std::string> not_row_major(const kernel_spec& spec);

/// The content of a small INT64 or INT32 tensor, such as a list of axes; the error names `what`.
[[nodiscard]] result<std::vector<std::int64_t>> integers_in(const tensor_view& from,
                                                            std::string_view what);

/// The same of an initializer, when the kernel is made; empty when the input is absent or no
/// initializer.
[[nodiscard]] std::optional<std::vector<std::int64_t>> constant_integers(const kernel_spec& spec,
                                                                         std::size_t index);

template <class T>
struct type_tag {
  using type = T;
};

/// Calls `use(type_tag<T>{})` for numeric types that C++ computes with; false for the others.
template <class Use>
bool visit_numeric(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32: use(type_tag<float>{}); return true;
    case dtype::float64: use(type_tag<double>{}); return true;
    case dtype::int64: use(type_tag<std::int64_t>{}); return true;
    case dtype::int32: use(type_tag<std::int32_t>{}); return true;
    case dtype::int16: use(type_tag<std::int16_t>{}); return true;
    case dtype::int8: use(type_tag<std::int8_t>{}); return true;
    case dtype::uint64: use(type_tag<std::uint64_t>{}); return true;
    case dtype::uint32: use(type_tag<std::uint32_t>{}); return true;
    case dtype::uint16: use(type_tag<std::uint16_t>{}); return true;
    case dtype::uint8: use(type_tag<std::uint8_t>{}); return true;
    default: return false;
  }
}

/// Makes a kernel from `make(type_tag<T>{})` for a numeric type, or declines.
template <class Make>
made_kernel make_numeric(dtype type, const Make& make) {
  made_kernel made = decline("datatype {} is not supported", to_string(type));
  visit_numeric(type, [&](auto tag) { made = make(tag); });
  return made;
}

} // namespace troupe::cpu
