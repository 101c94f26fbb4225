// Operators that hand their first input on unchanged, under another shape or name. The planner
// usually aliases them away.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

made_kernel make_reference_identity(const kernel_spec& spec, weight_cache&) {
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  const bool masks = has_output(spec, 1); // of Dropout: nothing is dropped
  if (masks && (spec.outputs[1].type != dtype::boolean || from.format != layout::row_major))
    return decline("a mask of {} is not supported", to_string(spec.outputs[1].type));
  if (spec.op_type == "Dropout" && has_input(spec, 2)) {
    const auto& training = spec.inputs[2].constant;
    if (!training || training->data.size() != 1 || training->data.data()[0] != std::byte{0})
      return decline("training mode is not known to be off");
  }
  if (from.type == dtype::string)
    return decline("strings are not copied by kernels");
  if (from.type != to.type || from.bytes() != to.bytes())
    return decline("input has {} bytes of {}, output {} of {}", from.bytes(), to_string(from.type),
                   to.bytes(), to_string(to.type));
  if (from.dims != to.dims && (from.format != layout::row_major || to.format != layout::row_major))
    return decline("a new shape needs row-major data");
  if (from.format != to.format)
    return decline("input and output differ in layout");
  return make_kernel({.name = "reference", .overwrites = 1},
                     [masks, bytes = from.bytes()](const kernel_args& args) {
                       if (masks)
                         std::memset(args.outputs[1].data, 1, args.outputs[1].desc.bytes());
                       if (bytes > 0 && args.outputs[0].data != args.inputs[0].data)
                         std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
                     });
}

} // namespace troupe::cpu
