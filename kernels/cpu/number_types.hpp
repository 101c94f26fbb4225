#pragma once

#include "kernels/cpu/spec.hpp"

#include <type_traits>

namespace troupe::cpu {

/// What arithmetic on elements of type T is done in: float for the half types, which are rounded
/// when they are stored, T itself for the others. Both conversions are static_casts.
template <class T>
using computed =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

/// Calls `use(type_tag<T>{})` for the floating-point types; false for the others.
template <class Use>
bool visit_floating(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32: use(type_tag<float>{}); return true;
    case dtype::float64: use(type_tag<double>{}); return true;
    case dtype::float16: use(type_tag<half>{}); return true;
    case dtype::bfloat16: use(type_tag<bfloat16>{}); return true;
    default: return false;
  }
}

/// The same for every type that is a number, half types included.
template <class Use>
bool visit_number(dtype type, const Use& use) {
  return visit_numeric(type, use) || visit_floating(type, use);
}

/// The same for the unsigned type of an element's size: what operators use that move elements of
/// any type but string.
template <class Use>
bool visit_bits(dtype type, const Use& use) {
  if (type == dtype::string)
    return false;
  switch (size_of(type)) {
    case 1: use(type_tag<std::uint8_t>{}); return true;
    case 2: use(type_tag<std::uint16_t>{}); return true;
    case 4: use(type_tag<std::uint32_t>{}); return true;
    default: use(type_tag<std::uint64_t>{}); return true;
  }
}

/// The same for the two types that indices have.
template <class Use>
bool visit_index(dtype type, const Use& use) {
  switch (type) {
    case dtype::int64: use(type_tag<std::int64_t>{}); return true;
    case dtype::int32: use(type_tag<std::int32_t>{}); return true;
    default: return false;
  }
}

template <class Make>
made_kernel make_floating(dtype type, const Make& make) {
  made_kernel made = decline("datatype {} is not supported", to_string(type));
  visit_floating(type, [&](auto tag) { made = make(tag); });
  return made;
}

template <class Make>
made_kernel make_number(dtype type, const Make& make) {
  made_kernel made = decline("datatype {} is not supported", to_string(type));
  visit_number(type, [&](auto tag) { made = make(tag); });
  return made;
}

/// Makes a kernel from `make(element tag, index tag)` that moves elements of `moved` by indices.
template <class Make>
made_kernel make_indexed(dtype moved, dtype indices, const Make& make) {
  made_kernel made = decline("elements are {} and indices {}: INT64 or INT32 expected",
                             to_string(moved), to_string(indices));
  visit_index(indices, [&](auto index) {
    visit_bits(moved, [&](auto element) { made = make(element, index); });
  });
  return made;
}

} // namespace troupe::cpu
