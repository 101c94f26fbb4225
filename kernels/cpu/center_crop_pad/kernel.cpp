// Cuts or pads axes around their centre to a given size. ONNX: CenterCropPad-18.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

made_kernel make_center_crop_pad(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.dims.size() != to.dims.size() || from.type == dtype::string)
    return decline("{} {} becomes {}", to_string(from.type), to_string(from.dims),
                   to_string(to.dims));
  // Where sizes differ by an odd number the begin has the smaller half.
  strided_box box{{}, row_major_strides(from.dims), row_major_strides(to.dims), size_of(from.type)};
  std::int64_t cut = 0;
  std::int64_t padded = 0;
  for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
    const auto size = std::min(from.dims[axis], to.dims[axis]);
    cut += (from.dims[axis] - size) / 2 * box.from_strides[axis];
    padded += (to.dims[axis] - size) / 2 * box.to_strides[axis];
    box.dims.push_back(size);
  }
  const bool fills = element_count(box.dims) != to.elements();
  const auto width = size_of(from.type);
  return make_kernel({.unread = 2}, [box = simplified(box), fills, bytes = to.bytes(),
                                     from_bytes = static_cast<std::size_t>(cut) * width,
                                     to_bytes = static_cast<std::size_t>(padded)
                                                * width](const kernel_args& args) {
    if (fills)
      std::memset(args.outputs[0].data, 0, bytes);
    box.copy(args.inputs[0].data + from_bytes, args.outputs[0].data + to_bytes);
  });
}

} // namespace troupe::cpu
