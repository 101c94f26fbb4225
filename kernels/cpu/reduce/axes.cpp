#include "kernels/cpu/reduce/reduce.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

tl::expected<std::vector<bool>, std::string> reduced_axes(const kernel_spec& spec) {
  const auto rank = spec.inputs[0].desc.dims.size();
  std::vector<std::int64_t> axes = spec.attributes->integers("axes");
  if (has_input(spec, 1)) {
    const auto constant = constant_integers(spec, 1);
    if (!constant)
      return decline("axes are not an initializer");
    axes = *constant;
  }
  if (axes.empty()) {
    const bool nothing = spec.attributes->integer("noop_with_empty_axes", 0) != 0;
    return std::vector<bool>(rank, !nothing);
  }
  std::vector<bool> reduced(rank, false);
  for (const auto axis : axes) {
    const auto index = axis_index(axis, rank);
    if (!index)
      return decline("axis {} is out of range for rank {}", axis, rank);
    reduced[*index] = true;
  }
  return reduced;
}

} // namespace troupe::cpu
