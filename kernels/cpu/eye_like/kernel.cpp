// A matrix with ones on a diagonal. ONNX: EyeLike-9, EyeLike-22.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"

#include <algorithm>

namespace troupe::cpu {

made_kernel make_eye_like(const kernel_spec& spec, weight_cache&) {
  const auto& output = spec.outputs[0];
  if (output.dims.size() != 2)
    return decline("output {} is no matrix", to_string(output.dims));
  const auto diagonal = spec.attributes->integer("k", 0);
  const auto make = [&](auto tag, auto one) {
    using element = typename decltype(tag)::type;
    return make_kernel({.unread = 1}, [diagonal, one, rows = output.dims[0],
                                       columns = output.dims[1]](const kernel_args& args) {
      auto* to = args.outputs[0].as<element>();
      std::fill_n(to, rows * columns, element{});
      if (diagonal <= -rows || diagonal >= columns)
        return;
      for (auto row = std::max<std::int64_t>(-diagonal, 0); row < rows; ++row)
        if (row + diagonal < columns)
          to[row * columns + row + diagonal] = one;
    });
  };
  if (output.type == dtype::boolean)
    return make(type_tag<std::uint8_t>{}, std::uint8_t{1});
  return make_number(output.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make(tag, static_cast<element>(computed<element>{1}));
  });
}

} // namespace troupe::cpu
