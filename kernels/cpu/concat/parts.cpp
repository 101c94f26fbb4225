#include "kernels/cpu/concat/parts.hpp"

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

// How `pieces` lie side by side in `whole` along an axis as written, each in its own strided
// layout. `gathering` copies from the pieces to the whole, else back.
tl::expected<std::vector<concat_part>, std::string>
concat_parts(const tensor_desc& whole, const std::vector<tensor_desc>& pieces,
             std::int64_t written_axis, bool gathering) {
  const auto axis = axis_index(written_axis, whole.dims.size());
  if (!axis)
    return decline("axis {} is out of range for rank {}", written_axis, whole.dims.size());
  const auto strides = strides_of(whole);
  std::vector<concat_part> parts;
  std::int64_t at = 0;
  for (const auto& piece : pieces) {
    if (piece.dims.size() != whole.dims.size() || piece.type != whole.type)
      return decline("a part is {} of {}, the whole {} of {}", to_string(piece.dims),
                     to_string(piece.type), to_string(whole.dims), to_string(whole.type));
    for (std::size_t other = 0; other < whole.dims.size(); ++other)
      if (other != *axis && piece.dims[other] != whole.dims[other])
        return decline("a part {} does not fit {}", to_string(piece.dims), to_string(whole.dims));
    const auto own = strides_of(piece);
    strided_box box{piece.dims, gathering ? own : strides, gathering ? strides : own,
                    size_of(whole.type)};
    parts.push_back(
        {simplified(box), static_cast<std::size_t>(at * strides[*axis]) * size_of(whole.type)});
    at += piece.dims[*axis];
  }
  if (at != whole.dims[*axis])
    return decline("parts have {} along axis {}, the whole {}", at, *axis, whole.dims[*axis]);
  return parts;
}

std::optional<std::string> not_movable(const kernel_spec& spec) {
  if (spec.outputs[0].type == dtype::string)
    return "strings are not moved by kernels";
  return not_strided(spec);
}

} // namespace

tl::expected<std::vector<concat_part>, std::string> parts_of_concat(const kernel_spec& spec) {
  if (auto why = not_movable(spec))
    return decline("{}", *why);
  std::vector<tensor_desc> pieces;
  for (const auto& input : spec.inputs)
    pieces.push_back(input.desc);
  // Before opset 4 the axis defaulted to 1.
  return concat_parts(spec.outputs[0], pieces, spec.attributes->integer("axis", 1), true);
}

tl::expected<std::vector<concat_part>, std::string> parts_of_split(const kernel_spec& spec) {
  if (auto why = not_movable(spec))
    return decline("{}", *why);
  const std::vector<tensor_desc> pieces{spec.outputs.begin(), spec.outputs.end()};
  return concat_parts(spec.inputs[0].desc, pieces, spec.attributes->integer("axis", 0), false);
}

} // namespace troupe::cpu
