#include "kernels/cpu/numbers.hpp"

#include "kernels/cpu/cast/convert.hpp"

namespace troupe::cpu {

numbers_in numbers_of(const tensor_view& from) {
  numbers_in made{from.data};
  const auto type = from.desc.type == dtype::boolean ? dtype::uint8 : from.desc.type;
  visit_number(type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    made.read = [](const std::byte* data, std::int64_t index) {
      return convert<double>(reinterpret_cast<const element*>(data)[index]);
    };
  });
  return made;
}

numbers_out numbers_to(const tensor_view& to) {
  numbers_out made{to.data};
  const auto type = to.desc.type == dtype::boolean ? dtype::uint8 : to.desc.type;
  visit_number(type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    made.write = [](std::byte* data, std::int64_t index, double value) {
      reinterpret_cast<element*>(data)[index] = convert<element>(value);
    };
  });
  return made;
}

numbers_in input_numbers(const kernel_args& args, std::size_t index) {
  return has_data(args, index) ? numbers_of(args.inputs[index]) : numbers_in{};
}

numbers_out output_numbers(const kernel_args& args, std::size_t index) {
  return index < args.outputs.size() && args.outputs[index].data != nullptr
             ? numbers_to(args.outputs[index])
             : numbers_out{};
}

std::optional<std::string> not_floating(const kernel_spec& spec, std::size_t first,
                                        std::size_t last) {
  if (auto why = not_row_major(spec))
    return why;
  for (std::size_t i = first; i < std::min(last, spec.inputs.size()); ++i)
    if (spec.inputs[i].present && !is_floating(spec.inputs[i].desc.type))
      return fmt::format("input {} is {}, a floating-point type expected", i,
                         to_string(spec.inputs[i].desc.type));
  for (std::size_t i = 0; i < spec.outputs.size(); ++i)
    if (has_output(spec, i) && !is_floating(spec.outputs[i].type))
      return fmt::format("output {} is {}, a floating-point type expected", i,
                         to_string(spec.outputs[i].type));
  return std::nullopt;
}

std::optional<std::string> not_numbers(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return why;
  for (const auto& input : spec.inputs)
    if (input.present && input.desc.type == dtype::string)
      return "strings are no numbers";
  for (std::size_t i = 0; i < spec.outputs.size(); ++i)
    if (has_output(spec, i) && spec.outputs[i].type == dtype::string)
      return "strings are no numbers";
  return std::nullopt;
}

} // namespace troupe::cpu
