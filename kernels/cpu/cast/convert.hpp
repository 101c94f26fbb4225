#pragma once

#include "kernels/cpu/number_types.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace troupe::cpu {

/// An element of a BOOL tensor where it is told apart from UINT8.
struct truth {
  std::uint8_t value;
};

template <class T>
constexpr bool is_half_type = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// One element as another type. A float beyond an integer's range becomes its nearest value and NaN
/// becomes 0 (ONNX leaves both open); integers wrap; what is not 0 is true.
template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<From, truth>)
    return convert<To>(static_cast<std::uint8_t>(from.value != 0 ? 1 : 0));
  else if constexpr (is_half_type<From>)
    return convert<To>(static_cast<float>(from));
  else if constexpr (std::is_same_v<To, truth>)
    return {static_cast<std::uint8_t>(from != From{0} ? 1 : 0)};
  else if constexpr (is_half_type<To>)
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

} // namespace troupe::cpu
