#include "kernels/cpu/spec.hpp"

#include "kernels/cpu/iteration.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

template <class Reason>
std::optional<std::string> first_reason(const kernel_spec& spec, std::size_t inputs,
                                        const Reason& reason) {
  for (std::size_t i = 0; i < std::min(inputs, spec.inputs.size()); ++i)
    if (spec.inputs[i].present)
      if (auto why = reason(spec.inputs[i].desc))
        return fmt::format("input {} {}", i, *why);
  for (std::size_t i = 0; i < spec.outputs.size(); ++i)
    if (has_output(spec, i))
      if (auto why = reason(spec.outputs[i]))
        return fmt::format("output {} {}", i, *why);
  return std::nullopt;
}

std::optional<std::string> blocked(const tensor_desc& desc) {
  if (has_strides(desc.format))
    return std::nullopt;
  return "has a blocked layout";
}

template <class T>
std::vector<std::int64_t> widened(const std::byte* data, std::size_t count) {
  std::vector<T> read(count);
  if (count > 0)
    std::memcpy(read.data(), data, count * sizeof(T));
  return {read.begin(), read.end()};
}

std::optional<std::vector<std::int64_t>> read_integers(dtype type, const std::byte* data,
                                                       std::int64_t count) {
  if (type == dtype::int64)
    return widened<std::int64_t>(data, static_cast<std::size_t>(count));
  if (type == dtype::int32)
    return widened<std::int32_t>(data, static_cast<std::size_t>(count));
  return std::nullopt;
}

} // namespace

std::size_t own_inputs(const kernel_spec& spec) {
  std::size_t own = spec.inputs.size();
  for (const auto& step : spec.post_ops)
    if (step.kind == post_op_kind::add || step.kind == post_op_kind::multiply)
      own = std::min(own, step.operand);
  return own;
}

std::optional<std::size_t> axis_index(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::optional<std::string> not_plain_float(const kernel_spec& spec, std::size_t inputs) {
  return first_reason(spec, inputs, [](const tensor_desc& desc) -> std::optional<std::string> {
    if (desc.type != dtype::float32)
      return fmt::format("is {}, not FP32", to_string(desc.type));
    return blocked(desc);
  });
}

std::optional<std::string> not_strided(const kernel_spec& spec) {
  return first_reason(spec, spec.inputs.size(), blocked);
}

std::optional<std::string> not_row_major(const kernel_spec& spec) {
  return first_reason(spec, spec.inputs.size(),
                      [](const tensor_desc& desc) -> std::optional<std::string> {
                        if (desc.format == layout::row_major)
                          return std::nullopt;
                        return "is not row-major";
                      });
}

result<std::vector<std::int64_t>> integers_in(const tensor_view& from, std::string_view what) {
  auto values = read_integers(from.desc.type, from.data, from.desc.elements());
  if (!values)
    return fail(errc::unimplemented, "{}: expected INT64 or INT32, found {}", what,
                to_string(from.desc.type));
  return *std::move(values);
}

std::optional<std::vector<std::int64_t>> constant_integers(const kernel_spec& spec,
                                                           std::size_t index) {
  if (!has_input(spec, index) || !spec.inputs[index].constant)
    return std::nullopt;
  const auto& constant = *spec.inputs[index].constant;
  return read_integers(constant.type, constant.data.data(), element_count(constant.dims));
}

} // namespace troupe::cpu
