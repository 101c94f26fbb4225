#include "kernels/cpu/iteration.hpp"

#include <fmt/format.h>

namespace troupe::cpu {

small_vector<std::size_t, 6> memory_order(const tensor_desc& desc) {
  small_vector<std::size_t, 6> order;
  const std::size_t rank = desc.dims.size();
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (!(desc.format == layout::channels_last && axis == 1))
      order.push_back(axis);
  if (order.size() < rank)
    order.push_back(1);
  return order;
}

shape strides_of(const tensor_desc& desc) {
  shape strides(desc.dims.size(), 1);
  std::int64_t next = 1;
  const auto order = memory_order(desc);
  for (std::size_t place = order.size(); place-- > 0;) {
    strides[order[place]] = next;
    next *= desc.dims[order[place]];
  }
  return strides;
}

std::int64_t iteration::outer() const noexcept {
  return element_count({dims.data(), dims.size() - 1});
}

namespace {

// Strides of `operand` along the axes of `output`, 0 where it has one element or no such axis.
tl::expected<shape, std::string> broadcast_strides(const tensor_desc& output,
                                                   const tensor_desc& operand) {
  const std::size_t rank = output.dims.size();
  if (operand.dims.size() > rank)
    return tl::unexpected{fmt::format("operand {} does not broadcast to {}",
                                      to_string(operand.dims), to_string(output.dims))};
  const std::size_t missing = rank - operand.dims.size();
  const shape own = strides_of(operand);
  shape strides(rank, 0);
  for (std::size_t axis = missing; axis < rank; ++axis) {
    const auto size = operand.dims[axis - missing];
    if (size != 1 && size != output.dims[axis])
      return tl::unexpected{fmt::format("operand {} does not broadcast to {}",
                                        to_string(operand.dims), to_string(output.dims))};
    if (size != 1)
      strides[axis] = own[axis - missing];
  }
  return strides;
}

} // namespace

tl::expected<iteration, std::string> iterate(const tensor_desc& output,
                                             std::span<const tensor_desc> operands) {
  std::vector<shape> full;
  bool blocked = !has_strides(output.format);
  for (const auto& operand : operands)
    blocked = blocked || !has_strides(operand.format);
  if (blocked) {
    // Padded channels are computed along: same shape and layout, or a single element.
    const auto width = static_cast<std::int64_t>(output.bytes() / size_of(output.type));
    iteration flat{{width}, {}};
    for (const auto& operand : operands) {
      const bool same = operand.format == output.format && operand.dims == output.dims;
      if (!same && operand.elements() != 1)
        return tl::unexpected{
            std::string{"operands of a blocked layout differ in shape or layout"}};
      flat.strides.push_back({same ? 1 : 0});
    }
    return flat;
  }
  for (const auto& operand : operands) {
    auto strides = broadcast_strides(output, operand);
    if (!strides)
      return tl::unexpected{std::move(strides).error()};
    full.push_back(*std::move(strides));
  }

  iteration loops;
  loops.strides.resize(operands.size());
  for (const auto axis : memory_order(output)) {
    const auto size = output.dims[axis];
    if (size == 1)
      continue;
    bool merges = !loops.dims.empty();
    for (std::size_t operand = 0; merges && operand < full.size(); ++operand)
      merges = loops.strides[operand].back() == full[operand][axis] * size;
    if (merges)
      loops.dims.back() *= size;
    else
      loops.dims.push_back(size);
    for (std::size_t operand = 0; operand < full.size(); ++operand) {
      if (merges)
        loops.strides[operand].back() = full[operand][axis];
      else
        loops.strides[operand].push_back(full[operand][axis]);
    }
  }
  if (loops.dims.empty()) {
    loops.dims.push_back(1);
    for (auto& strides : loops.strides)
      strides.push_back(0);
  }
  return loops;
}

} // namespace troupe::cpu
