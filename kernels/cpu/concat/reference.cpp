// Concat and its inverse, Split, in any strided layout. ONNX: Concat-13, Split-2, Split-18.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"

namespace troupe::cpu {

namespace {

// One part of the whole: a box, and where in the whole it begins.
struct part {
  strided_box box;
  std::size_t offset_bytes = 0;
};

tl::expected<std::vector<part>, std::string> parts_of(const tensor_desc& whole,
                                                      const std::vector<tensor_desc>& pieces,
                                                      std::int64_t written_axis, bool gathering) {
  const auto axis = axis_index(written_axis, whole.dims.size());
  if (!axis)
    return decline("axis {} is out of range for rank {}", written_axis, whole.dims.size());
  const auto strides = strides_of(whole);
  std::vector<part> parts;
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

} // namespace

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
  auto parts = parts_of(spec.outputs[0], pieces, axis, true);
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
  auto parts = parts_of(spec.inputs[0].desc, pieces, axis, false);
  if (!parts)
    return tl::unexpected{std::move(parts).error()};
  return make_kernel({}, [parts = *std::move(parts)](const kernel_args& args) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (args.outputs[i].data)
        parts[i].box.copy(args.inputs[0].data + parts[i].offset_bytes, args.outputs[i].data);
  });
}

} // namespace troupe::cpu
