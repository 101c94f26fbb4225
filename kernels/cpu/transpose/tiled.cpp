// Transpose and Reorder by tiles, over the thread team.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/tiled_copy.hpp"
#include "kernels/cpu/transpose/transpose.hpp"

namespace troupe::cpu {

namespace {

made_kernel moving(const strided_box& box, int threads) {
  return make_kernel({.name = "tiled"}, [copy = tiled_copy{box, threads}](const kernel_args& args) {
    copy.run(args.inputs[0].data, args.outputs[0].data);
  });
}

} // namespace

made_kernel make_tiled_transpose(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type == dtype::string)
    return decline("strings are not moved by kernels");
  const auto box = transposed_box(spec);
  if (!box)
    return tl::unexpected{box.error()};
  return moving(*box, spec.threads);
}

made_kernel make_tiled_reorder(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.type != to.type || from.dims != to.dims || from.type == dtype::string)
    return decline("a reorder changes nothing but the layout");
  return moving({to.dims, strides_of(from), strides_of(to), size_of(to.type)}, spec.threads);
}

} // namespace troupe::cpu
