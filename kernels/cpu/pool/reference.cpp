// Average and norm over a moving window. ONNX: AveragePool-22, LpPool-22. Padding adds nothing to a
// norm.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/pool/moving_window.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>

namespace troupe::cpu {

namespace {

// `result(sum of term(x) in the window, place)`, summed in double precision.
template <class Term, class Result>
made_kernel summing(const kernel_spec& spec, const Term& term, const Result& result) {
  const auto found = pool_geometry_of(spec);
  if (!found)
    return tl::unexpected{found.error()};
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel(
        {}, [over = *found, term, result, threads = spec.threads](const kernel_args& args) {
          const auto* x = args.inputs[0].as<const element>();
          auto* y = args.outputs[0].as<element>();
          for_each_plane(over, threads, [&](std::int64_t image, std::int64_t channel) {
            for_each_place(over.output.sizes, [&](const spatial_index& place) {
              double sum = 0;
              for_each_tap(over.moves, place, over.input.sizes,
                           [&](const auto&, const spatial_index& from) {
                             sum += term(static_cast<double>(static_cast<computed<element>>(
                                 x[over.input.offset(image, channel, from)])));
                           });
              y[over.output.offset(image, channel, place)] =
                  static_cast<element>(static_cast<computed<element>>(result(sum, over, place)));
            });
          });
        });
  });
}

} // namespace

made_kernel make_reference_average_pool(const kernel_spec& spec, weight_cache&) {
  return summing(
      spec, [](double x) { return x; },
      [](double sum, const pool_geometry& over, const spatial_index& place) {
        const auto taps = over.counted(place);
        return taps > 0 ? sum / static_cast<double>(taps) : 0.0;
      });
}

made_kernel make_reference_lp_pool(const kernel_spec& spec, weight_cache&) {
  const auto p = static_cast<double>(spec.attributes->integer("p", 2));
  if (p < 1)
    return decline("p is {}, expected 1 or more", p);
  return summing(
      spec, [p](double x) { return std::pow(std::abs(x), p); },
      [p](double sum, const pool_geometry&, const spatial_index&) { return std::pow(sum, 1 / p); });
}

} // namespace troupe::cpu
