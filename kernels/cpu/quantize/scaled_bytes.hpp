#pragma once

#include "kernels/cpu/quantize/bytes.hpp"
#include "kernels/cpu/spec.hpp"

#include <cmath>

namespace troupe::cpu {

/// What the bytes of a tensor of `type` mean by the inputs `scale` and `zero_point`, which may be
/// left out; the reason when those are not one constant number of FP32 and one of `type`.
[[nodiscard]] inline tl::expected<bytes::meaning, std::string>
scaled_bytes_at(const kernel_spec& spec, dtype type, std::size_t scale, std::size_t zero_point) {
  if (type != dtype::int8 && type != dtype::uint8)
    return decline("{}, INT8 or UINT8 expected", to_string(type));
  const auto is_one = [&](std::size_t input, dtype of) {
    const auto& content = spec.inputs[input].constant;
    return content && content->type == of && element_count(content->dims) == 1;
  };
  if (!has_input(spec, scale) || !is_one(scale, dtype::float32))
    return decline("input {} is not one constant scale of FP32", scale);
  bytes::meaning made{type == dtype::int8,
                      elements_of<float>(spec.inputs[scale].constant->data).front(), 0};
  if (!std::isnormal(made.scale))
    return decline("a scale of {}", made.scale);
  if (!has_input(spec, zero_point))
    return made;
  if (!is_one(zero_point, type))
    return decline("input {} is not one constant zero point of {}", zero_point, to_string(type));
  const auto& zero = spec.inputs[zero_point].constant->data;
  made.zero_point = made.is_signed ? elements_of<std::int8_t>(zero).front()
                                   : elements_of<std::uint8_t>(zero).front();
  return made;
}

/// The same for QuantizeLinear and DequantizeLinear between FP32 and bytes.
[[nodiscard]] inline tl::expected<bytes::meaning, std::string> scaling_of(const kernel_spec& spec) {
  const auto& x = spec.inputs[0].desc;
  const auto& y = spec.outputs[0];
  const bool quantizes = spec.op_type == "QuantizeLinear";
  if ((quantizes ? x : y).type != dtype::float32)
    return decline("{} to {}", to_string(x.type), to_string(y.type));
  if (spec.attributes->integer("precision", 0) > 1) // anything but FP32
    return decline("a division that is not of FP32");
  return scaled_bytes_at(spec, (quantizes ? y : x).type, 1, 2);
}

} // namespace troupe::cpu
