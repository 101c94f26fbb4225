// ONNX: Transpose-13.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"
#include "kernels/cpu/transpose/transpose.hpp"

namespace troupe::cpu {

tl::expected<strided_box, std::string> transposed_box(const kernel_spec& spec) {
  const auto& dims = spec.inputs[0].desc.dims;
  auto order = spec.attributes->integers("perm");
  if (order.empty())
    for (std::size_t axis = dims.size(); axis-- > 0;)
      order.push_back(static_cast<std::int64_t>(axis));
  if (order.size() != dims.size())
    return decline("perm has {} values for rank {}", order.size(), dims.size());
  const auto strides = row_major_strides(dims);
  strided_box box;
  box.element_bytes = size_of(spec.inputs[0].desc.type);
  std::vector<bool> seen(dims.size(), false);
  for (const auto axis : order) {
    const auto from = axis_index(axis, dims.size());
    if (!from || seen[*from])
      return decline("perm is no permutation");
    seen[*from] = true;
    box.dims.push_back(dims[*from]);
    box.from_strides.push_back(strides[*from]);
  }
  if (box.dims != spec.outputs[0].dims)
    return decline("output {} is not the input transposed, {}", to_string(spec.outputs[0].dims),
                   to_string(box.dims));
  box.to_strides = row_major_strides(box.dims);
  return simplified(box);
}

made_kernel make_reference_transpose(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type == dtype::string)
    return decline("strings are not moved by kernels");
  auto box = transposed_box(spec);
  if (!box)
    return tl::unexpected{std::move(box).error()};
  return make_kernel({}, [box = *box](const kernel_args& args) { //
    box.copy(args.inputs[0].data, args.outputs[0].data);
  });
}

} // namespace troupe::cpu
