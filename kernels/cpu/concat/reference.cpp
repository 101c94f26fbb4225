// Concat and its inverse, Split, in any strided layout. ONNX: Concat-13, Split-2, Split-18.

#include "kernels/cpu/concat/parts.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

made_kernel make_reference_concat(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  if (spec.outputs[0].type == dtype::string)
    return decline("strings are not moved by kernels");
  std::vector<tensor_desc> pieces;
  for (const auto& input : spec.inputs)
    pieces.push_back(input.desc);
  // Before opset 4 the axis defaulted to 1.
  const auto axis = spec.attributes->integer("axis", 1);
  auto parts = concat_parts(spec.outputs[0], pieces, axis, true);
  if (!parts)
    return tl::unexpected{std::move(parts).error()};
  return make_kernel({}, [parts = *std::move(parts)](const kernel_args& args) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i].box.copy(args.inputs[i].data, args.outputs[0].data + parts[i].offset_bytes);
  });
}

made_kernel make_reference_split(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  if (spec.outputs[0].type == dtype::string)
    return decline("strings are not moved by kernels");
  const std::vector<tensor_desc> pieces{spec.outputs.begin(), spec.outputs.end()};
  const auto axis = spec.attributes->integer("axis", 0);
  auto parts = concat_parts(spec.inputs[0].desc, pieces, axis, false);
  if (!parts)
    return tl::unexpected{std::move(parts).error()};
  return make_kernel({}, [parts = *std::move(parts)](const kernel_args& args) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (args.outputs[i].data)
        parts[i].box.copy(args.inputs[0].data + parts[i].offset_bytes, args.outputs[i].data);
  });
}

} // namespace troupe::cpu
