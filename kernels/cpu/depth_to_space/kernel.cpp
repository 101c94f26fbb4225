// Blocks of positions become channels, and back: transpositions of the tensor with its axes split.
// ONNX: DepthToSpace-13, SpaceToDepth-13, and 28, where the latter has modes too.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/tiled_copy.hpp"

#include <array>

namespace troupe::cpu {

namespace {

// `split` are the sizes of the input's axes with blocks apart, `order` which of them is where in
// the output.
made_kernel transposing(const kernel_spec& spec, const std::array<std::int64_t, 6>& split,
                        const std::array<std::size_t, 6>& order) {
  const auto strides = row_major_strides(split);
  strided_box box;
  box.element_bytes = size_of(spec.inputs[0].desc.type);
  for (const auto axis : order) {
    box.dims.push_back(split[axis]);
    box.from_strides.push_back(strides[axis]);
  }
  box.to_strides = row_major_strides(box.dims);
  if (spec.outputs[0].elements() != element_count(box.dims))
    return decline("output {} has another size than input {}", to_string(spec.outputs[0].dims),
                   to_string(spec.inputs[0].desc.dims));
  return make_kernel({.name = "tiled"},
                     [copy = tiled_copy{box, spec.threads}](const kernel_args& args) {
                       copy.run(args.inputs[0].data, args.outputs[0].data);
                     });
}

struct blocks {
  std::int64_t size = 1;
  bool depth_first = true; ///< mode DCR: a block's position is the outer part of the channel
};

tl::expected<blocks, std::string> blocks_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  const auto size = spec.attributes->integer("blocksize", 0);
  const auto mode = spec.attributes->text("mode", "DCR");
  if (data.dims.size() != 4 || data.type == dtype::string || size < 1 || size > 1 << 20
      || (mode != "DCR" && mode != "CRD"))
    return decline("blocks of {} in mode '{}' for {} {}", size, mode, to_string(data.type),
                   to_string(data.dims));
  return blocks{size, mode == "DCR"};
}

} // namespace

made_kernel make_depth_to_space(const kernel_spec& spec, weight_cache&) {
  const auto by = blocks_of(spec);
  if (!by)
    return tl::unexpected{by.error()};
  const auto& dims = spec.inputs[0].desc.dims;
  const auto b = by->size;
  if (dims[1] % (b * b) != 0)
    return decline("{} channels are no blocks of {}x{}", dims[1], b, b);
  const auto channels = dims[1] / (b * b);
  if (by->depth_first)
    return transposing(spec, {dims[0], b, b, channels, dims[2], dims[3]}, {0, 3, 4, 1, 5, 2});
  return transposing(spec, {dims[0], channels, b, b, dims[2], dims[3]}, {0, 1, 4, 2, 5, 3});
}

made_kernel make_space_to_depth(const kernel_spec& spec, weight_cache&) {
  const auto by = blocks_of(spec);
  if (!by)
    return tl::unexpected{by.error()};
  const auto& dims = spec.inputs[0].desc.dims;
  const auto b = by->size;
  if (dims[2] % b != 0 || dims[3] % b != 0)
    return decline("{} has no whole blocks of {}x{}", to_string(dims), b, b);
  const std::array split{dims[0], dims[1], dims[2] / b, b, dims[3] / b, b};
  if (by->depth_first)
    return transposing(spec, split, {0, 3, 5, 1, 2, 4});
  return transposing(spec, split, {0, 1, 3, 5, 2, 4});
}

} // namespace troupe::cpu
