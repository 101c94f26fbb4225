#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/number_types.hpp"

#include <algorithm>

namespace troupe::cpu {

/// What happens where a scattered element meets the one that is there: attribute `reduction` of
/// ScatterElements-18 and ScatterND-18. Each combines in the type that T computes in.
struct replacing {
  template <class T>
  static T of(T, T update) {
    return update;
  }
};
struct adding {
  template <class T>
  static T of(T there, T update) {
    return static_cast<T>(there + update);
  }
};
struct multiplying {
  template <class T>
  static T of(T there, T update) {
    return static_cast<T>(there * update);
  }
};
struct keeping_greater {
  template <class T>
  static T of(T there, T update) {
    return std::max(there, update);
  }
};
struct keeping_less {
  template <class T>
  static T of(T there, T update) {
    return std::min(there, update);
  }
};

template <class Reduction, class T>
void meet(T& there, T update) {
  if constexpr (std::is_same_v<Reduction, replacing>)
    there = update;
  else
    there = static_cast<T>(
        Reduction::of(static_cast<computed<T>>(there), static_cast<computed<T>>(update)));
}

/// Makes a kernel from `make(reduction, element tag)`: elements are moved by their size where they
/// are only replaced, else they are numbers.
template <class Make>
made_kernel make_scatter(const kernel_spec& spec, const Make& make) {
  const auto type = spec.inputs[0].desc.type;
  if (spec.inputs[2].desc.type != type)
    return decline("updates are {}, the data {}", to_string(spec.inputs[2].desc.type),
                   to_string(type));
  const auto reduction = spec.attributes->text("reduction", "none");
  if (reduction == "add")
    return make_number(type, [&](auto tag) { return make(adding{}, tag); });
  if (reduction == "mul")
    return make_number(type, [&](auto tag) { return make(multiplying{}, tag); });
  if (reduction == "max")
    return make_number(type, [&](auto tag) { return make(keeping_greater{}, tag); });
  if (reduction == "min")
    return make_number(type, [&](auto tag) { return make(keeping_less{}, tag); });
  if (reduction != "none")
    return decline("reduction '{}' is not known", reduction);
  made_kernel made = decline("datatype {} is not supported", to_string(type));
  visit_bits(type, [&](auto tag) { made = make(replacing{}, tag); });
  return made;
}

} // namespace troupe::cpu
