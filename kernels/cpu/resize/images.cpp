#include "kernels/cpu/resize/images.hpp"

namespace troupe::cpu {

tl::expected<resized_images, std::string> resized_images_of(const kernel_spec& spec,
                                                            const resize_rule& rule) {
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.dims.size() != 4 || from.format != to.format || from.elements() == 0)
    return decline("expected images of four axes in one layout, found {}", to_string(from.dims));
  const auto scales = constant_scales(spec);
  if (!scales)
    return tl::unexpected{scales.error()};
  if (scales->empty())
    return decline("the scales are not an initializer");
  // A scale beside 1 may leave a size as it is and move positions all the same.
  if (from.dims[0] != to.dims[0] || from.dims[1] != to.dims[1] || (*scales)[0] != 1.0F
      || (*scales)[1] != 1.0F)
    return decline("images or channels are resized too");
  const bool last = from.format == layout::channels_last;
  return resized_images{from.dims[0] * (last ? 1 : from.dims[1]),
                        from.dims[2],
                        to.dims[2],
                        from.dims[3],
                        to.dims[3],
                        last ? from.dims[1] : 1,
                        resize_axis_of(rule, from.dims[2], to.dims[2], (*scales)[2]),
                        resize_axis_of(rule, from.dims[3], to.dims[3], (*scales)[3])};
}

} // namespace troupe::cpu
