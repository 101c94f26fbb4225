// The same bytes as another type of the same size. ONNX: BitCast-26.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

made_kernel make_reference_bit_cast(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.type == dtype::string || to.type == dtype::string || from.dims != to.dims
      || from.bytes() != to.bytes())
    return decline("no cast of the bits of {} to {}", to_string(from.type), to_string(to.type));
  return make_kernel({.overwrites = 1}, [bytes = from.bytes()](const kernel_args& args) {
    if (bytes > 0 && args.outputs[0].data != args.inputs[0].data)
      std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
  });
}

} // namespace troupe::cpu
