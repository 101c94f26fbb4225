// One value per image and channel from all spatial positions. ONNX: GlobalAveragePool-22,
// GlobalMaxPool-22, GlobalLpPool-22.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cpu {

namespace {

// A strided layout has all positions of a channel at one distance: any number of spatial axes is
// one.
struct channel_planes {
  std::int64_t planes = 1;
  std::int64_t channels = 1;
  std::int64_t places = 1;
  std::int64_t image_stride = 0;
  std::int64_t channel_stride = 0;
  std::int64_t place_stride = 1;
};

template <class T, class Reduce>
void run(const channel_planes& over, int threads, const kernel_args& args, const Reduce& reduce) {
  const auto* x = args.inputs[0].as<const T>();
  auto* y = args.outputs[0].as<T>();
  parallel_for(threads, over.planes, over.places, [&](std::int64_t begin, std::int64_t end) {
    for (auto plane = begin; plane < end; ++plane) {
      const auto* from = x + plane / over.channels * over.image_stride
                         + plane % over.channels * over.channel_stride;
      y[plane] = static_cast<T>(static_cast<computed<T>>(reduce([&](std::int64_t place) {
        return static_cast<double>(static_cast<computed<T>>(from[place * over.place_stride]));
      })));
    }
  });
}

template <class Reduce>
made_kernel make(const kernel_spec& spec, const channel_planes& over, const Reduce& reduce) {
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    return make_kernel({}, [over, reduce, threads = spec.threads](const kernel_args& args) {
      run<typename decltype(tag)::type>(over, threads, args, reduce);
    });
  });
}

} // namespace

made_kernel make_reference_global_pool(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  const auto rank = input.dims.size();
  if (rank < 2)
    return decline("input has rank {}: 2 or more expected", rank);
  const auto strides = strides_of(input);
  channel_planes over;
  over.planes = input.dims[0] * input.dims[1];
  over.channels = std::max<std::int64_t>(input.dims[1], 1);
  over.places = element_count({input.dims.data() + 2, rank - 2});
  over.image_stride = strides[0];
  over.channel_stride = strides[1];
  over.place_stride = rank > 2 ? strides.back() : 0;
  const auto places = over.places;
  if (spec.op_type == "GlobalMaxPool")
    return make(spec, over, [places](const auto& at) {
      double best = -std::numeric_limits<double>::infinity();
      for (std::int64_t place = 0; place < places; ++place)
        best = std::max(best, at(place));
      return best;
    });
  if (spec.op_type == "GlobalAveragePool")
    return make(spec, over, [places](const auto& at) {
      double sum = 0;
      for (std::int64_t place = 0; place < places; ++place)
        sum += at(place);
      return sum / static_cast<double>(places);
    });
  const auto p = static_cast<double>(spec.attributes->integer("p", 2));
  if (p < 1)
    return decline("p is {}, expected 1 or more", p);
  return make(spec, over, [places, p](const auto& at) {
    double sum = 0;
    for (std::int64_t place = 0; place < places; ++place)
      sum += std::pow(std::abs(at(place)), p);
    return std::pow(sum, 1 / p);
  });
}

} // namespace troupe::cpu
