#include "kernels/cpu/pool/moving_window.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

std::int64_t pool_geometry::counted(const spatial_index& place) const {
  std::int64_t taps = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto start = place[axis] * moves.strides[axis] - moves.pads[axis];
    const auto low = count_padding ? -moves.pads[axis] : 0;
    const auto high = input.sizes[axis] + (count_padding ? moves.pads_end[axis] : 0);
    std::int64_t along = 0;
    for (std::int64_t tap = 0; tap < moves.kernel[axis]; ++tap) {
      const auto at = start + tap * moves.dilations[axis];
      along += at >= low && at < high ? 1 : 0;
    }
    taps *= along;
  }
  return taps;
}

tl::expected<pool_geometry, std::string> pool_geometry_of(const kernel_spec& spec) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  const auto rank = input.dims.size();
  const auto& output = spec.outputs[has_output(spec, 0) || spec.outputs.size() < 2 ? 0 : 1];
  if (rank < 3 || rank > 5 || output.dims.size() != rank)
    return decline("one to three spatial axes expected, found {}", to_string(input.dims));
  const auto moves = sliding_window(*spec.attributes, input.dims, {});
  if (!moves)
    return decline("{}", moves.error().text);
  pool_geometry over{spatial_of(input), spatial_of(output), spatial_window_of(*moves)};
  over.count_padding = spec.attributes->integer("count_include_pad", 0) != 0;
  return over;
}

} // namespace troupe::cpu
