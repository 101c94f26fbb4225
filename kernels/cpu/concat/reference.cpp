// Concat and its inverse, Split, in any strided layout. ONNX: Concat-13, Split-2, Split-18.

#include "kernels/cpu/concat/parts.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"

namespace troupe::cpu {

made_kernel make_reference_concat(const kernel_spec& spec, weight_cache&) {
  auto parts = parts_of_concat(spec);
  if (!parts)
    return tl::unexpected{std::move(parts).error()};
  return make_kernel({}, [parts = *std::move(parts)](const kernel_args& args) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i].box.copy(args.inputs[i].data, args.outputs[0].data + parts[i].offset_bytes);
  });
}

made_kernel make_reference_split(const kernel_spec& spec, weight_cache&) {
  auto parts = parts_of_split(spec);
  if (!parts)
    return tl::unexpected{std::move(parts).error()};
  return make_kernel({}, [parts = *std::move(parts)](const kernel_args& args) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (args.outputs[i].data)
        parts[i].box.copy(args.inputs[0].data + parts[i].offset_bytes, args.outputs[i].data);
  });
}

} // namespace troupe::cpu
