// y = x * gate, the gate of each image and channel made from the means of all channels of the image
// by two products: operator "SqueezeExcite" of the domain "troupe" (kernels/op/squeeze_excite.hpp).

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/post_ops.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/op/squeeze_excite.hpp"

namespace troupe::cpu {

namespace {

using namespace squeeze_excite;

// activation(bias + matrix * values)
std::vector<float> layer(const tensor_view& matrix, const tensor_view& bias,
                         std::span<const post_op> steps, const std::vector<float>& values) {
  std::vector<float> made;
  const auto* row = matrix.as<const float>();
  for (std::int64_t out = 0; out < matrix.desc.dims[0]; ++out, row += values.size()) {
    double sum = bias.data != nullptr ? bias.as<const float>()[out] : 0.0F;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += double{row[i]} * double{values[i]};
    auto value = static_cast<float>(sum);
    for (const auto& step : steps)
      value = apply_post_op(step, value, 0.0F);
    made.push_back(value);
  }
  return made;
}

} // namespace

made_kernel make_reference_squeeze_excite(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec, input_count))
    return decline("{}", *why);
  if (spec.inputs[x].desc.dims.size() != 4)
    return decline("{}, images expected", to_string(spec.inputs[x].desc.dims));
  return make_kernel(
      {.overwrites = 1},
      [squeeze = steps_in(*spec.attributes, squeeze_steps),
       excite = steps_in(*spec.attributes, excite_steps), from = spatial_of(spec.inputs[x].desc),
       to = spatial_of(spec.outputs[0])](const kernel_args& args) {
        const auto* image = args.inputs[x].as<const float>();
        auto* y = args.outputs[0].as<float>();
        for (std::int64_t n = 0; n < from.images; ++n) {
          std::vector<float> means;
          for (std::int64_t c = 0; c < from.channels; ++c) {
            double sum = 0;
            for_each_place(from.sizes, [&](const spatial_index& at) {
              sum += double{image[from.offset(n, c, at)]};
            });
            means.push_back(static_cast<float>(
                sum / static_cast<double>(from.sizes[0] * from.sizes[1] * from.sizes[2])));
          }
          const auto between =
              layer(args.inputs[squeeze_weights], args.inputs[squeeze_bias], squeeze, means);
          const auto gates =
              layer(args.inputs[excite_weights], args.inputs[excite_bias], excite, between);
          for (std::int64_t c = 0; c < from.channels; ++c)
            for_each_place(from.sizes, [&](const spatial_index& at) {
              y[to.offset(n, c, at)] =
                  image[from.offset(n, c, at)] * gates[static_cast<std::size_t>(c)];
            });
        }
      });
}

} // namespace troupe::cpu
