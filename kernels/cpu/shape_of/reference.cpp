// The sizes of a tensor as a tensor. ONNX: Shape-15, Size-13.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>

namespace troupe::cpu {

made_kernel make_reference_shape(const kernel_spec& spec, weight_cache&) {
  const auto& dims = spec.inputs[0].desc.dims;
  if (spec.outputs[0].type != dtype::int64)
    return decline("output is {}, not INT64", to_string(spec.outputs[0].type));
  std::vector<std::int64_t> answer;
  if (spec.op_type == "Size") {
    answer.push_back(element_count(dims));
  } else {
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto place = [rank](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const auto start = place(spec.attributes->integer("start", 0));
    const auto end = place(spec.attributes->integer("end", rank));
    for (auto axis = start; axis < end; ++axis)
      answer.push_back(dims[static_cast<std::size_t>(axis)]);
  }
  if (static_cast<std::int64_t>(answer.size()) != spec.outputs[0].elements())
    return decline("output has {} elements, expected {}", spec.outputs[0].elements(),
                   answer.size());
  return make_kernel({.unread = 1}, [answer](const kernel_args& args) {
    std::ranges::copy(answer, args.outputs[0].as<std::int64_t>());
  });
}

} // namespace troupe::cpu
