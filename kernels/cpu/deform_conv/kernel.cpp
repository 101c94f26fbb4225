// Convolution whose taps are moved by offsets that data gives, and weighted by a mask. ONNX:
// DeformConv-22, two spatial axes. For each output position the samples of all channels and taps
// are taken once, then every filter is a product with them.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vision_kernels.hpp"
#include "kernels/op/window.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

struct deformation {
  std::int64_t images = 0, channels = 0, filters = 0;
  std::int64_t groups = 1, offset_groups = 1;
  window_axis y, x;
  std::int64_t parts = 1; ///< that run at once, each with samples of its own

  [[nodiscard]] std::int64_t taps() const noexcept { return y.kernel * x.kernel; }
  [[nodiscard]] std::int64_t places() const noexcept { return y.output * x.output; }
};

template <class T>
double number(const T& from) {
  return static_cast<double>(static_cast<computed<T>>(from));
}

// Between the four elements around a position; those outside are 0.
template <class T>
double sample(const T* plane, std::int64_t rows, std::int64_t columns, double y, double x) {
  if (!(y > -1 && y < static_cast<double>(rows) && x > -1 && x < static_cast<double>(columns)))
    return 0;
  const auto top = static_cast<std::int64_t>(std::floor(y));
  const auto left = static_cast<std::int64_t>(std::floor(x));
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return row < 0 || row >= rows || column < 0 || column >= columns
               ? 0.0
               : number(plane[row * columns + column]);
  };
  const auto down = y - static_cast<double>(top);
  const auto right = x - static_cast<double>(left);
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1))
         + down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

template <class T>
struct tensors {
  const T* x;
  const T* w;
  const T* offset;
  const T* bias;
  const T* mask;
  T* y;
};

// What the taps of all channels see from one output position: [channels, taps].
template <class T>
void take_samples(const deformation& by, const tensors<T>& of, std::int64_t image,
                  std::int64_t place, double* samples) {
  const auto row = static_cast<double>(place / by.x.output * by.y.stride - by.y.pad_begin);
  const auto column = static_cast<double>(place % by.x.output * by.x.stride - by.x.pad_begin);
  const auto plane = by.y.input * by.x.input;
  for (std::int64_t channel = 0; channel < by.channels; ++channel) {
    const auto group = image * by.offset_groups + channel / (by.channels / by.offset_groups);
    const auto* from = of.x + (image * by.channels + channel) * plane;
    for (std::int64_t tap = 0; tap < by.taps(); ++tap) {
      const auto moved = group * by.taps() + tap;
      const auto* offset = of.offset + 2 * moved * by.places() + place;
      const auto y =
          row + static_cast<double>(tap / by.x.kernel * by.y.dilation) + number(offset[0]);
      const auto x = column + static_cast<double>(tap % by.x.kernel * by.x.dilation)
                     + number(offset[by.places()]);
      const auto weight = of.mask == nullptr ? 1.0 : number(of.mask[moved * by.places() + place]);
      *samples++ = weight * sample(from, by.y.input, by.x.input, y, x);
    }
  }
}

template <class T>
void apply_filters(const deformation& by, const tensors<T>& of, std::int64_t image,
                   std::int64_t place, const double* samples) {
  const auto length = by.channels / by.groups * by.taps();
  for (std::int64_t filter = 0; filter < by.filters; ++filter) {
    const auto* seen = samples + filter / (by.filters / by.groups) * length;
    const auto* weights = of.w + filter * length;
    double sum = of.bias == nullptr ? 0.0 : number(of.bias[filter]);
    for (std::int64_t i = 0; i < length; ++i)
      sum += number(weights[i]) * seen[i];
    of.y[(image * by.filters + filter) * by.places() + place] =
        static_cast<T>(static_cast<computed<T>>(sum));
  }
}

tl::expected<deformation, std::string> deformation_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& x = spec.inputs[0].desc;
  const auto& w = spec.inputs[1].desc.dims;
  if (x.dims.size() != 4 || w.size() != 4 || spec.outputs[0].dims.size() != 4)
    return decline("two spatial axes expected, found {}", to_string(x.dims));
  for (std::size_t i = 1; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].present && spec.inputs[i].desc.type != x.type)
      return decline("input {} is {}, input 0 {}", i, to_string(spec.inputs[i].desc.type),
                     to_string(x.type));
  const auto moves = sliding_window(*spec.attributes, x.dims, {w.data() + 2, 2});
  if (!moves)
    return decline("{}", moves.error().text);
  deformation by;
  by.images = x.dims[0];
  by.channels = x.dims[1];
  by.filters = w[0];
  by.groups = spec.attributes->integer("group", 1);
  by.offset_groups = spec.attributes->integer("offset_group", 1);
  by.y = (*moves)[0];
  by.x = (*moves)[1];
  if (by.groups < 1 || by.offset_groups < 1 || w[1] * by.groups != by.channels
      || by.filters % by.groups != 0 || by.channels % by.offset_groups != 0
      || spec.outputs[0].dims != shape{by.images, by.filters, by.y.output, by.x.output})
    return decline("weights {} for {} in {} and {} groups", to_string(w), to_string(x.dims),
                   by.groups, by.offset_groups);
  const auto moved = by.offset_groups * by.taps();
  if (spec.inputs[2].desc.dims != shape{by.images, 2 * moved, by.y.output, by.x.output}
      || (has_input(spec, 3) && spec.inputs[3].desc.dims != shape{by.filters})
      || (has_input(spec, 4)
          && spec.inputs[4].desc.dims != shape{by.images, moved, by.y.output, by.x.output}))
    return decline("offsets {}, bias or mask do not fit", to_string(spec.inputs[2].desc.dims));
  by.parts =
      std::max<std::int64_t>(std::min<std::int64_t>(spec.threads, by.images * by.places()), 1);
  return by;
}

} // namespace

made_kernel make_deform_conv(const kernel_spec& spec, weight_cache&) {
  const auto found = deformation_of(spec);
  if (!found)
    return tl::unexpected{found.error()};
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    const auto length = found->channels * found->taps();
    return make_kernel(
        {.workspace_bytes = static_cast<std::size_t>(found->parts * length) * sizeof(double)},
        [by = *found, length, threads = spec.threads](const kernel_args& args) {
          const auto optional = [&](std::size_t i) {
            return has_data(args, i) ? args.inputs[i].as<const element>() : nullptr;
          };
          const tensors<element> of{args.inputs[0].as<const element>(),
                                    args.inputs[1].as<const element>(),
                                    args.inputs[2].as<const element>(),
                                    optional(3),
                                    optional(4),
                                    args.outputs[0].as<element>()};
          const auto all = by.images * by.places();
          const auto cost = all / by.parts * length * (8 + by.filters / by.groups);
          parallel_for(threads, by.parts, cost, [&](std::int64_t begin, std::int64_t end) {
            for (auto part = begin; part < end; ++part) {
              auto* samples = reinterpret_cast<double*>(args.workspace.data()) + part * length;
              for (auto at = all * part / by.parts; at < all * (part + 1) / by.parts; ++at) {
                take_samples(by, of, at / by.places(), at % by.places(), samples);
                apply_filters(by, of, at / by.places(), at % by.places(), samples);
              }
            }
          });
        });
  });
}

} // namespace troupe::cpu
