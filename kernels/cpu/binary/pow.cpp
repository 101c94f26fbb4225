// Powers, whose exponent may have a type of its own. ONNX: Pow-15.

#include "kernels/cpu/cast/convert.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <array>
#include <cmath>

namespace troupe::cpu {

namespace {

// Exact and wrapping; what lies between 0 and 1 becomes 0.
template <class T>
T integer_power(T base, std::int64_t exponent) {
  using wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  if (exponent < 0) {
    if (base == 1)
      return 1;
    if (std::is_signed_v<T> && base == static_cast<T>(-1))
      return exponent % 2 == 0 ? T{1} : base;
    return 0;
  }
  wide power = 1;
  auto factor = static_cast<wide>(base);
  for (; exponent > 0; exponent /= 2, factor *= factor)
    if (exponent % 2 != 0)
      power *= factor;
  return static_cast<T>(power);
}

// An exponent of any type, read as the type that the power is computed in.
template <class As>
using exponent_reader = As (*)(const std::byte* data, std::int64_t index);

template <class As>
exponent_reader<As> reader_for(dtype type) {
  exponent_reader<As> reader = nullptr;
  visit_number(type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    reader = [](const std::byte* data, std::int64_t index) {
      return convert<As>(reinterpret_cast<const element*>(data)[index]);
    };
  });
  return reader;
}

template <class T, class As, class Of>
made_kernel power(const kernel_spec& spec, Of of) {
  const std::array operands{spec.inputs[0].desc, spec.inputs[1].desc};
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  const auto read = reader_for<As>(operands[1].type);
  if (read == nullptr)
    return decline("an exponent of datatype {} is not supported", to_string(operands[1].type));
  return make_kernel({}, [loops = *loops, read, of](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const T>();
    const auto* by = args.inputs[1].data;
    auto* to = args.outputs[0].as<T>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i)
        to[row * loops.inner() + i] = of(x[offsets[0] + i * loops.strides[0].back()],
                                         read(by, offsets[1] + i * loops.strides[1].back()));
    });
  });
}

} // namespace

made_kernel make_reference_pow(const kernel_spec& spec, weight_cache&) {
  const auto base = spec.inputs[0].desc.type;
  if (spec.outputs[0].type != base)
    return decline("output is {}, the base {}", to_string(spec.outputs[0].type), to_string(base));
  const bool whole = !is_floating(spec.inputs[1].desc.type);
  return make_number(base, [&](auto tag) {
    using element = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<element>)
      if (whole)
        return power<element, std::int64_t>(spec, integer_power<element>);
    return power<element, double>(spec, [](element x, double by) {
      return convert<element>(std::pow(static_cast<double>(static_cast<computed<element>>(x)), by));
    });
  });
}

} // namespace troupe::cpu
