// A depthwise convolution over the past, which is handed from call to call. ONNX:
// CausalConvWithState-27.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>

namespace troupe::cpu {

made_kernel make_reference_causal_conv(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& x = spec.inputs[0].desc.dims;
  const auto& weight = spec.inputs[1].desc.dims;
  if (x.size() != 3 || weight.size() != 3 || weight[0] != x[1] || weight[1] != 1 || weight[2] < 1)
    return decline("[batch, channels, length] and [channels, 1, k] expected, {} and {} found",
                   to_string(x), to_string(weight));
  const auto k = weight[2];
  if (has_input(spec, 2) && spec.inputs[2].desc.dims != shape{x[1]})
    return decline("a bias of {} expected, {} found", x[1], to_string(spec.inputs[2].desc.dims));
  if (has_input(spec, 3) && spec.inputs[3].desc.dims != shape{x[0], x[1], k - 1})
    return decline("a past of {} positions expected, {} found", k - 1,
                   to_string(spec.inputs[3].desc.dims));
  const auto activation = spec.attributes->text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return decline("activation none, silu or swish expected, '{}' found", activation);
  const bool silu = activation != "none";
  return make_kernel(
      {}, [=, rows = x[0] * x[1], channels = x[1], length = x[2]](const kernel_args& args) {
        const auto input = input_numbers(args, 0);
        const auto weights = input_numbers(args, 1);
        const auto bias = input_numbers(args, 2);
        const auto past = input_numbers(args, 3);
        const auto y = output_numbers(args, 0);
        const auto present = output_numbers(args, 1);
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto channel = row % channels;
          // Positions count from the first of the past.
          const auto at = [&](std::int64_t position) {
            if (position >= k - 1)
              return input[row * length + position - (k - 1)];
            return past ? past[row * (k - 1) + position] : 0.0;
          };
          for (std::int64_t i = 0; i < length; ++i) {
            double sum = bias ? bias[channel] : 0.0;
            for (std::int64_t tap = 0; tap < k; ++tap)
              sum += weights[channel * k + tap] * at(i + tap);
            y.set(row * length + i, silu ? sum / (1 + std::exp(-sum)) : sum);
          }
          for (std::int64_t i = 0; present && i < k - 1; ++i)
            present.set(row * (k - 1) + i, at(length + i));
        }
      });
}

} // namespace troupe::cpu
