// Conversion between datatypes. A float beyond an integer's range becomes its nearest value and NaN
// becomes 0 (ONNX leaves both open). ONNX: Cast-13, without strings.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace troupe::cpu {

namespace {

struct truth {
  std::uint8_t value;
};

template <class T>
constexpr bool is_small_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<From, truth>)
    return convert<To>(static_cast<std::uint8_t>(from.value != 0 ? 1 : 0));
  else if constexpr (is_small_float<From>)
    return convert<To>(static_cast<float>(from));
  else if constexpr (std::is_same_v<To, truth>)
    return {static_cast<std::uint8_t>(from != From{0} ? 1 : 0)};
  else if constexpr (is_small_float<To>)
    return To{static_cast<float>(from)};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(from))
      return 0;
    if (from <= static_cast<From>(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (from >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(from);
  } else
    return static_cast<To>(from);
}

template <class Use>
bool visit_castable(dtype type, const Use& use) {
  switch (type) {
    case dtype::boolean: use(type_tag<truth>{}); return true;
    case dtype::float16: use(type_tag<half>{}); return true;
    case dtype::bfloat16: use(type_tag<bfloat16>{}); return true;
    default: return visit_numeric(type, use);
  }
}

} // namespace

made_kernel make_reference_cast(const kernel_spec& spec, weight_cache&) {
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.format != to.format || !has_strides(from.format))
    return decline("input and output differ in layout");
  made_kernel made =
      decline("no conversion from {} to {}", to_string(from.type), to_string(to.type));
  visit_castable(from.type, [&](auto source) {
    visit_castable(to.type, [&](auto target) {
      using source_type = typename decltype(source)::type;
      using target_type = typename decltype(target)::type;
      const std::uint64_t overwrites = from.type == to.type ? 1 : 0;
      made = make_kernel({.overwrites = overwrites},
                         [count = from.elements()](const kernel_args& args) {
                           const auto* x = args.inputs[0].as<const source_type>();
                           auto* y = args.outputs[0].as<target_type>();
                           for (std::int64_t i = 0; i < count; ++i)
                             y[i] = convert<target_type>(x[i]);
                         });
    });
  });
  return made;
}

} // namespace troupe::cpu
