#include "kernels/cpu/placement.hpp"

namespace troupe::cpu {
namespace {

bool layouts_coincide(const tensor_desc& desc) noexcept {
  if (desc.dims.size() < 3 || desc.dims[1] == 1)
    return true;
  for (std::size_t axis = 2; axis < desc.dims.size(); ++axis)
    if (desc.dims[axis] != 1)
      return false;
  return true;
}

} // namespace

bool lies_channels_last(const tensor_desc& desc) noexcept {
  return desc.format == layout::channels_last
         || (desc.format == layout::row_major && layouts_coincide(desc));
}

bool lies_row_major(const tensor_desc& desc) noexcept {
  return desc.format == layout::row_major
         || (desc.format == layout::channels_last && layouts_coincide(desc));
}

} // namespace troupe::cpu
