// The sum of two quantised tensors of the same dims, quantised again: operator "QLinearAdd" of the
// domain "troupe", which the pass fold_qdq_sums makes. Its inputs are those of the operator of that
// name in com.microsoft.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantize/scaled_bytes.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

made_kernel make_reference_qlinear_add(const kernel_spec& spec, weight_cache&) {
  const auto& y = spec.outputs[0];
  for (const std::size_t input : {0U, 3U}) {
    const auto& from = spec.inputs[input].desc;
    if (from.dims != y.dims || from.format != y.format)
      return decline("input {} of {}, {} in the output's layout expected", input,
                     to_string(from.dims), to_string(y.dims));
  }
  const auto a = scaled_bytes_at(spec, spec.inputs[0].desc.type, 1, 2);
  const auto b = scaled_bytes_at(spec, spec.inputs[3].desc.type, 4, 5);
  const auto sum = scaled_bytes_at(spec, y.type, 6, 7);
  if (!a || !b || !sum)
    return tl::unexpected{!a ? a.error() : !b ? b.error() : sum.error()};
  return make_kernel({.overwrites = 9}, [a = *a, b = *b, sum = *sum, count = y.elements(),
                                         within = byte_bounds::of(*spec.attributes, y.type)](
                                            const kernel_args& args) {
    const auto real = [&](std::size_t input, const bytes::meaning& of, std::int64_t at) {
      const auto byte = integer_at(args.inputs[input], at);
      return static_cast<float>(byte - of.zero_point) * of.scale;
    };
    for (std::int64_t i = 0; i < count; ++i) {
      const auto nearest = rounded_between((real(0, a, i) + real(3, b, i)) / sum.scale,
                                           static_cast<float>(within.lowest - sum.zero_point),
                                           static_cast<float>(within.highest - sum.zero_point));
      args.outputs[0].data[i] =
          static_cast<std::byte>(static_cast<std::int32_t>(nearest) + sum.zero_point);
    }
  });
}

} // namespace troupe::cpu
