// Tensors that a node makes by itself. ONNX: Constant-13, ConstantOfShape-9, Range-11, Range-27.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>
#include <cstring>

namespace troupe::cpu {

namespace {

template <class T>
std::optional<shared_bytes> bytes_of(const attribute_map& attributes, std::string_view name) {
  if (const auto* one = attributes.find<T>(name))
    return copy_of(std::as_bytes(std::span{one, 1}));
  if (const auto* many = attributes.find<std::vector<T>>(name))
    return copy_of(std::as_bytes(std::span{*many}));
  return std::nullopt;
}

std::optional<shared_bytes> constant_bytes(const attribute_map& attributes) {
  if (const auto* value = attributes.find<tensor>("value"))
    return value->data;
  for (const auto* name : {"value_float", "value_floats"})
    if (auto found = bytes_of<float>(attributes, name))
      return found;
  for (const auto* name : {"value_int", "value_ints"})
    if (auto found = bytes_of<std::int64_t>(attributes, name))
      return found;
  return std::nullopt;
}

} // namespace

made_kernel make_reference_constant(const kernel_spec& spec, weight_cache&) {
  auto bytes = constant_bytes(*spec.attributes);
  if (!bytes || spec.outputs[0].type == dtype::string)
    return decline("expected one of value, value_float, value_floats, value_int, value_ints");
  if (bytes->size() != spec.outputs[0].bytes())
    return decline("the value has {} bytes, the output {}", bytes->size(), spec.outputs[0].bytes());
  return make_kernel({}, [bytes = *std::move(bytes)](const kernel_args& args) {
    if (bytes.size() > 0)
      std::memcpy(args.outputs[0].data, bytes.data(), bytes.size());
  });
}

made_kernel make_reference_constant_of_shape(const kernel_spec& spec, weight_cache&) {
  const auto type = spec.outputs[0].type;
  if (type == dtype::string)
    return decline("strings are not supported");
  const auto width = size_of(type);
  std::array<std::byte, 8> element{};
  if (const auto* value = spec.attributes->find<tensor>("value")) {
    if (value->type != type || value->data.size() != width)
      return decline("the value is no single {}", to_string(type));
    std::memcpy(element.data(), value->data.data(), width);
  }
  return make_kernel({.unread = 1},
                     [element, width, count = spec.outputs[0].elements()](const kernel_args& args) {
                       for (std::int64_t i = 0; i < count; ++i)
                         std::memcpy(args.outputs[0].data + static_cast<std::size_t>(i) * width,
                                     element.data(), width);
                     });
}

made_kernel make_reference_range(const kernel_spec& spec, weight_cache&) {
  return make_number(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    using number = computed<element>;
    return make_kernel({}, [count = spec.outputs[0].elements()](const kernel_args& args) {
      const auto start = static_cast<number>(*args.inputs[0].as<const element>());
      const auto step = static_cast<number>(*args.inputs[2].as<const element>());
      for (std::int64_t i = 0; i < count; ++i)
        args.outputs[0].as<element>()[i] =
            static_cast<element>(static_cast<number>(start + static_cast<number>(i) * step));
    });
  });
}

} // namespace troupe::cpu
