#pragma once

#include "kernels/cpu/conv/reference_geometry.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

/// A kernel that computes each output element of a convolution, transposed or not, by
/// `sum_at(conv, x, w, image, channel, place)`, which sums what the definition says in double
/// precision; the bias is added here.
template <class Sum>
made_kernel make_convolution_by_definition(const kernel_spec& spec, bool transposed,
                                           const Sum& sum_at) {
  const auto found = reference_convolution_of(spec, transposed);
  if (!found)
    return tl::unexpected{found.error()};
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [conv = *found, sum_at,
                            threads = spec.threads](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      const auto* w = args.inputs[1].as<const element>();
      const auto* bias = has_data(args, 2) ? args.inputs[2].as<const element>() : nullptr;
      auto* y = args.outputs[0].as<element>();
      const auto planes = conv.output.images * conv.output.channels;
      parallel_for(threads, planes, parallel_threshold, [&](std::int64_t begin, std::int64_t end) {
        for (auto plane = begin; plane < end; ++plane) {
          const auto image = plane / conv.output.channels;
          const auto channel = plane % conv.output.channels;
          const auto more = bias ? static_cast<computed<element>>(bias[channel]) : 0;
          for_each_place(conv.output.sizes, [&](const spatial_index& place) {
            const auto sum = sum_at(conv, x, w, image, channel, place);
            y[conv.output.offset(image, channel, place)] =
                static_cast<element>(static_cast<computed<element>>(sum) + more);
          });
        }
      });
    });
  });
}

} // namespace troupe::cpu
