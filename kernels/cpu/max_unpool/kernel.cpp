// Puts maxima back where they were; all else is 0. ONNX: MaxUnpool-22. Positions count through the
// tensor that kernel, strides and pads give; a larger output asked for is padded at its ends.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/vision_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

// Of the tensor that positions count through; the attributes have passed shape inference.
shape unpooled_dims(const kernel_spec& spec) {
  auto dims = spec.inputs[0].desc.dims;
  const auto kernel = spec.attributes->integers("kernel_shape");
  auto strides = spec.attributes->integers("strides");
  auto pads = spec.attributes->integers("pads");
  const auto axes = dims.size() - 2;
  strides.resize(axes, 1);
  pads.resize(2 * axes, 0);
  for (std::size_t axis = 0; axis < axes; ++axis)
    dims[axis + 2] =
        (dims[axis + 2] - 1) * strides[axis] + kernel[axis] - pads[axis] - pads[axis + axes];
  return dims;
}

} // namespace

made_kernel make_max_unpool(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  const auto& places = spec.inputs[1].desc;
  const auto& output = spec.outputs[0];
  if (data.dims.size() < 3 || places.type != dtype::int64 || places.dims != data.dims
      || output.dims.size() != data.dims.size()
      || spec.attributes->integers("kernel_shape").size() != data.dims.size() - 2)
    return decline("positions {} of {} for {}", to_string(places.dims), to_string(places.type),
                   to_string(data.dims));
  const auto counted = unpooled_dims(spec);
  return make_floating(data.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel(
        {.unread = 4},
        [counted, output, count = data.elements()](const kernel_args& args) -> result<void> {
          const auto* x = args.inputs[0].as<const element>();
          const auto* positions = args.inputs[1].as<const std::int64_t>();
          auto* y = args.outputs[0].as<element>();
          std::fill_n(y, output.elements(), element{});
          const auto total = element_count(counted);
          const auto strides = row_major_strides(output.dims);
          for (std::int64_t i = 0; i < count; ++i) {
            auto rest = positions[i];
            std::int64_t at = 0;
            bool inside = rest >= 0 && rest < total;
            for (std::size_t axis = counted.size(); inside && axis-- > 0;) {
              const auto place = rest % counted[axis];
              rest /= counted[axis];
              inside = place < output.dims[axis];
              at += place * strides[axis];
            }
            if (!inside)
              return fail(errc::invalid_argument,
                          "MaxUnpool: a position within {} expected, {} found",
                          to_string(output.dims), positions[i]);
            y[at] = x[i];
          }
          return {};
        });
  });
}

} // namespace troupe::cpu
