// Repeats a tensor along axes of size 1, or whole. ONNX: Expand-13, Tile-13.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <array>

namespace troupe::cpu {

made_kernel make_reference_expand(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.type == dtype::string)
    return decline("strings are not moved by kernels");
  const std::array operands{from};
  auto loops = iterate(to, operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  const strided_box box{loops->dims, loops->strides[0], row_major_strides(loops->dims),
                        size_of(to.type)};
  return make_kernel({}, [box](const kernel_args& args) { //
    box.copy(args.inputs[0].data, args.outputs[0].data);
  });
}

made_kernel make_reference_tile(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.type == dtype::string)
    return decline("strings are not moved by kernels");
  if (from.dims.size() != to.dims.size())
    return decline("output {} has another rank than input {}", to_string(to.dims),
                   to_string(from.dims));
  // Each axis becomes two loops: over the repetitions and over the elements.
  const auto from_strides = row_major_strides(from.dims);
  const auto to_strides = row_major_strides(to.dims);
  strided_box box{{}, {}, {}, size_of(to.type)};
  for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
    const auto size = from.dims[axis];
    if (size == 0 ? to.dims[axis] != 0 : to.dims[axis] % size != 0)
      return decline("output {} is no multiple of input {}", to_string(to.dims),
                     to_string(from.dims));
    for (const auto extent : {size == 0 ? 0 : to.dims[axis] / size, size})
      box.dims.push_back(extent);
    for (const auto stride : {std::int64_t{0}, from_strides[axis]})
      box.from_strides.push_back(stride);
    for (const auto stride : {to_strides[axis] * size, to_strides[axis]})
      box.to_strides.push_back(stride);
  }
  return make_kernel({}, [box = simplified(box)](const kernel_args& args) { //
    box.copy(args.inputs[0].data, args.outputs[0].data);
  });
}

} // namespace troupe::cpu
