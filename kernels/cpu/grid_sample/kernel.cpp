// Samples an input wherever a grid points. ONNX: GridSample-16, GridSample-22.

#include "kernels/cpu/grid_sample/sampler.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vision_kernels.hpp"

namespace troupe::cpu {

namespace {

using read_function = double (*)(const std::byte* from, std::int64_t index);

template <class T>
double read_as(const std::byte* from, std::int64_t index) {
  return static_cast<double>(static_cast<computed<T>>(reinterpret_cast<const T*>(from)[index]));
}

struct sampling {
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t places_in = 1;
  std::int64_t places_out = 1;
  read_function coordinate = nullptr;
};

// All channels of one output position, whose taps are the same.
template <class T>
void sample(const sampling& by, const grid_taps& taps, const T* x, T* y) {
  for (std::int64_t channel = 0; channel < by.channels; ++channel) {
    double sum = 0;
    for (std::size_t tap = 0; tap < taps.count; ++tap)
      sum += taps.weight[tap] * static_cast<double>(static_cast<computed<T>>(x[taps.offset[tap]]));
    *y = static_cast<T>(static_cast<computed<T>>(sum));
    x += by.places_in;
    y += by.places_out;
  }
}

} // namespace

made_kernel make_grid_sample(const kernel_spec& spec, weight_cache&) {
  auto sampler = grid_sampler::make(spec);
  if (!sampler)
    return tl::unexpected{std::move(sampler).error()};
  const auto& data = spec.inputs[0].desc.dims;
  const auto& grid = spec.inputs[1].desc.dims;
  sampling by;
  by.images = data[0];
  by.channels = data[1];
  by.places_in = element_count({data.data() + 2, data.size() - 2});
  by.places_out = element_count({grid.data() + 1, grid.size() - 2});
  visit_floating(spec.inputs[1].desc.type,
                 [&](auto tag) { by.coordinate = read_as<typename decltype(tag)::type>; });
  if (by.coordinate == nullptr
      || spec.outputs[0].elements() != by.images * by.channels * by.places_out)
    return decline("a grid of {} for an output {}", to_string(spec.inputs[1].desc.type),
                   to_string(spec.outputs[0].dims));
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({},
                       [by, sampler = *sampler, threads = spec.threads](const kernel_args& args) {
                         const auto* x = args.inputs[0].as<const element>();
                         auto* y = args.outputs[0].as<element>();
                         const auto axes = static_cast<std::int64_t>(sampler.axes());
                         parallel_for(threads, by.images * by.places_out, by.channels * 8 + 32,
                                      [&](std::int64_t begin, std::int64_t end) {
                                        for (auto at = begin; at < end; ++at) {
                                          std::array<double, 3> entry{};
                                          for (std::int64_t i = 0; i < axes; ++i)
                                            entry[static_cast<std::size_t>(i)] =
                                                by.coordinate(args.inputs[1].data, at * axes + i);
                                          const auto image = at / by.places_out * by.channels;
                                          sample(by, sampler.taps({entry.data(), sampler.axes()}),
                                                 x + image * by.places_in,
                                                 y + image * by.places_out + at % by.places_out);
                                        }
                                      });
                       });
  });
}

} // namespace troupe::cpu
