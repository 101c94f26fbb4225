// Concat and Split over the thread team.

#include "kernels/cpu/concat/parts.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/tiled_copy.hpp"

namespace troupe::cpu {

namespace {

struct moved_part {
  tiled_copy copy;
  std::size_t offset_bytes;
};

std::vector<moved_part> tiled(const std::vector<concat_part>& parts, int threads) {
  std::vector<moved_part> made;
  for (const auto& part : parts)
    made.push_back({tiled_copy{part.box, threads}, part.offset_bytes});
  return made;
}

} // namespace

made_kernel make_tiled_concat(const kernel_spec& spec, weight_cache&) {
  const auto parts = parts_of_concat(spec);
  if (!parts)
    return tl::unexpected{parts.error()};
  return make_kernel(
      {.name = "tiled"}, [parts = tiled(*parts, spec.threads)](const kernel_args& args) {
        for (std::size_t i = 0; i < parts.size(); ++i)
          parts[i].copy.run(args.inputs[i].data, args.outputs[0].data + parts[i].offset_bytes);
      });
}

made_kernel make_tiled_split(const kernel_spec& spec, weight_cache&) {
  const auto parts = parts_of_split(spec);
  if (!parts)
    return tl::unexpected{parts.error()};
  return make_kernel(
      {.name = "tiled"}, [parts = tiled(*parts, spec.threads)](const kernel_args& args) {
        for (std::size_t i = 0; i < parts.size(); ++i)
          if (args.outputs[i].data)
            parts[i].copy.run(args.inputs[0].data + parts[i].offset_bytes, args.outputs[i].data);
      });
}

} // namespace troupe::cpu
