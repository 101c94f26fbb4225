#include "kernels/cpu/spatial.hpp"

#include "kernels/cpu/iteration.hpp"

namespace troupe::cpu {

spatial spatial_of(const tensor_desc& desc) {
  const auto strides = strides_of(desc);
  spatial seen;
  seen.images = desc.dims[0];
  seen.channels = desc.dims[1];
  seen.image_stride = strides[0];
  seen.channel_stride = strides[1];
  const std::size_t axes = desc.dims.size() - 2;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    seen.sizes[3 - axes + axis] = desc.dims[2 + axis];
    seen.strides[3 - axes + axis] = strides[2 + axis];
  }
  return seen;
}

spatial_window spatial_window_of(const window& moves) {
  spatial_window seen;
  const std::size_t axes = moves.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t place = 3 - axes + axis;
    seen.kernel[place] = moves[axis].kernel;
    seen.strides[place] = moves[axis].stride;
    seen.dilations[place] = moves[axis].dilation;
    seen.pads[place] = moves[axis].pad_begin;
    seen.pads_end[place] = moves[axis].pad_end;
  }
  return seen;
}

} // namespace troupe::cpu
