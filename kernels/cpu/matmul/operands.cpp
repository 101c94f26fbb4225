#include "kernels/cpu/matmul/operands.hpp"

#include "kernels/cpu/placement.hpp"

namespace troupe::cpu {

std::string unsupported_product(const kernel_spec& spec) {
  for (const auto& desc : {spec.inputs[0].desc, spec.inputs[1].desc, spec.outputs[0]}) {
    if (desc.type != dtype::float32)
      return "only FP32, found " + std::string{to_string(desc.type)};
    if (!lies_row_major(desc))
      return "only row-major tensors";
    if (desc.elements() == 0)
      return "an empty tensor";
  }
  return {};
}

} // namespace troupe::cpu
