// Changes the layout of a tensor: operator "Reorder" of the domain "troupe", put in by the planner
// between kernels that want different layouts. The output's descriptor names the target.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

std::int64_t block_of(layout format) {
  return format == layout::blocked8 ? 8 : format == layout::blocked16 ? 16 : 1;
}

// Where channel group `group` (of `block` channels) begins in a tensor, and its strides
// [image, channel in the group, place].
struct group_access {
  std::int64_t start = 0;
  shape strides;
};

group_access access(const tensor_desc& desc, std::int64_t group, std::int64_t block,
                    std::int64_t places) {
  const auto channels = desc.dims[1];
  const auto own = block_of(desc.format);
  if (own > 1) {
    const auto padded = (channels + own - 1) / own * own;
    return {group * places * own, {padded * places, 1, own}};
  }
  if (desc.format == layout::channels_last)
    return {group * block, {channels * places, 1, channels}};
  return {group * block * places, {channels * places, places, 1}};
}

} // namespace

made_kernel make_reference_reorder(const kernel_spec& spec, weight_cache&) {
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.type != to.type || from.dims != to.dims || from.type == dtype::string)
    return decline("a reorder changes nothing but the layout");
  if (from.dims.size() < 2)
    return decline("rank {} has no channels", from.dims.size());
  const auto block = std::max(block_of(from.format), block_of(to.format));
  if (block_of(from.format) > 1 && block_of(to.format) > 1 && from.format != to.format)
    return decline("between two blocked layouts");
  const auto channels = from.dims[1];
  const auto places = element_count({from.dims.data() + 2, from.dims.size() - 2});
  const auto group = block == 1 ? std::max<std::int64_t>(channels, 1) : block;
  struct piece {
    strided_box box;
    std::size_t from_bytes, to_bytes;
  };
  std::vector<piece> pieces;
  const auto width = size_of(from.type);
  for (std::int64_t first = 0; first < channels; first += group) {
    const auto source = access(from, first / group, group, places);
    const auto target = access(to, first / group, group, places);
    strided_box box{{from.dims[0], std::min(group, channels - first), places},
                    source.strides,
                    target.strides,
                    width};
    pieces.push_back({simplified(box), static_cast<std::size_t>(source.start) * width,
                      static_cast<std::size_t>(target.start) * width});
  }
  const bool pads = block_of(to.format) > 1 && channels % block_of(to.format) != 0;
  return make_kernel({}, [pieces = std::move(pieces), pads,
                          bytes = to.bytes()](const kernel_args& args) {
    if (pads)
      std::memset(args.outputs[0].data, 0, bytes);
    for (const auto& moved : pieces)
      moved.box.copy(args.inputs[0].data + moved.from_bytes, args.outputs[0].data + moved.to_bytes);
  });
}

} // namespace troupe::cpu
