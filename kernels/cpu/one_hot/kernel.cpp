// A new axis with one value at each index and another everywhere else. ONNX: OneHot-11, OneHot-28.
// An index out of range gives no "on" at all, as the definition says.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

struct hot_axis {
  std::int64_t outer = 1;
  std::int64_t depth = 1;
  std::int64_t inner = 1;
};

// Fractions are cut off; what no INT64 holds is out of every range.
template <class T>
std::int64_t index_of(T written) {
  if constexpr (std::is_integral_v<T>) {
    if (std::is_unsigned_v<T> && written > static_cast<T>(INT64_MAX >> 1))
      return INT64_MAX >> 1;
    return static_cast<std::int64_t>(written);
  } else {
    const auto number = static_cast<double>(static_cast<computed<T>>(written));
    return std::abs(number) < 0x1p62 ? static_cast<std::int64_t>(number) : INT64_MAX >> 1;
  }
}

template <class T, class Bits>
void fill(const hot_axis& by, const T* indices, const Bits* values, Bits* to) {
  std::fill_n(to, by.outer * by.depth * by.inner, values[0]);
  for (std::int64_t outer = 0; outer < by.outer; ++outer)
    for (std::int64_t inner = 0; inner < by.inner; ++inner) {
      auto index = index_of(*indices++);
      index += index < 0 ? by.depth : 0;
      if (index >= 0 && index < by.depth)
        to[(outer * by.depth + index) * by.inner + inner] = values[1];
    }
}

} // namespace

made_kernel make_one_hot(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& indices = spec.inputs[0].desc;
  const auto& output = spec.outputs[0];
  const auto axis = axis_index(spec.attributes->integer("axis", -1), indices.dims.size() + 1);
  if (!axis || output.dims.size() != indices.dims.size() + 1 || spec.inputs[2].desc.elements() != 2
      || spec.inputs[2].desc.type != output.type)
    return decline("axis {} of indices {} with values {}", spec.attributes->integer("axis", -1),
                   to_string(indices.dims), to_string(spec.inputs[2].desc.dims));
  hot_axis by;
  by.outer = element_count({indices.dims.data(), *axis});
  by.inner = element_count({indices.dims.data() + *axis, indices.dims.size() - *axis});
  by.depth = output.dims[*axis];
  return make_number(indices.type, [&](auto tag) {
    using index = typename decltype(tag)::type;
    made_kernel made = decline("values of {} are not supported", to_string(output.type));
    visit_bits(output.type, [&](auto element) {
      using bits = typename decltype(element)::type;
      made = make_kernel({.unread = 2}, [by](const kernel_args& args) {
        fill(by, args.inputs[0].as<const index>(), args.inputs[2].as<const bits>(),
             args.outputs[0].as<bits>());
      });
    });
    return made;
  });
}

} // namespace troupe::cpu
