// Windows of signals and the weights of a mel spectrogram. ONNX: HannWindow-17, HammingWindow-17,
// BlackmanWindow-17, MelWeightMatrix-17.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace troupe::cpu {

made_kernel make_reference_signal_window(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_numbers(spec))
    return decline("{}", *why);
  // a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
  std::array<double, 3> a{0.5, 0.5, 0};
  if (spec.op_type == "HammingWindow")
    a = {25.0 / 46, 21.0 / 46, 0};
  else if (spec.op_type == "BlackmanWindow")
    a = {0.42, 0.5, 0.08};
  const bool periodic = spec.attributes->integer("periodic", 1) != 0;
  return make_kernel({}, [a, periodic, size = spec.outputs[0].elements()](const kernel_args& args) {
    const auto to = output_numbers(args, 0);
    const auto period = static_cast<double>(periodic ? size : size - 1);
    for (std::int64_t n = 0; n < size; ++n) {
      // A symmetric window of one element is its middle.
      const double turn =
          period == 0 ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(n) / period;
      to.set(n, a[0] - a[1] * std::cos(turn) + a[2] * std::cos(2 * turn));
    }
  });
}

made_kernel make_reference_mel_weights(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_numbers(spec))
    return decline("{}", *why);
  return make_kernel(
      {},
      [bins = spec.outputs[0].dims[0],
       mels = spec.outputs[0].dims[1]](const kernel_args& args) -> result<void> {
        const auto scalar = [&](std::size_t input) { return input_numbers(args, input)[0]; };
        const auto to = output_numbers(args, 0);
        const double length = scalar(1);
        const double rate = scalar(2);
        const auto mel_of = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
        const double low = mel_of(scalar(3));
        const double step = (mel_of(scalar(4)) - low) / static_cast<double>(mels + 2);
        const auto edge = [&](std::int64_t index) {
          const double hertz =
              700 * (std::pow(10.0, (low + step * static_cast<double>(index)) / 2595) - 1);
          return std::floor((length + 1) * hertz / rate);
        };
        const auto within = [&](double bin) {
          return bin >= 0 && bin <= static_cast<double>(bins);
        };
        if (!(rate > 0) || !within(edge(0)) || !within(edge(mels + 1)))
          return fail(errc::invalid_argument,
                      "edges within {} frequencies expected, {} and {} Hz found", bins, scalar(3),
                      scalar(4));
        const auto bin = [&](std::int64_t index) { return static_cast<std::int64_t>(edge(index)); };
        for (std::int64_t mel = 0; mel < mels; ++mel) {
          const auto left = bin(mel);
          const auto center = bin(mel + 1);
          const auto right = bin(mel + 2);
          for (std::int64_t j = 0; j < bins; ++j) {
            double weight = 0;
            if (j >= center && j < right)
              weight = static_cast<double>(right - j) / static_cast<double>(right - center);
            else if (j == center)
              weight = 1;
            else if (j >= left && j < center)
              weight = static_cast<double>(j - left) / static_cast<double>(center - left);
            to.set(j * mels + mel, weight);
          }
        }
        return {};
      });
}

} // namespace troupe::cpu
