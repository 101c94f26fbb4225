// com.microsoft RotaryEmbedding-1: input [B, S, N H] or [B, N, S, H], FP32, position_ids [1] (the
// first position) or [B, S].

#include "kernels/cpu/contrib/kernels.hpp"
#include "kernels/cpu/contrib/rotate.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

struct rotary {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t size = 0;
  std::int64_t half = 0;
  std::int64_t positions = 0; ///< rows of the caches
  bool by_head = false;
  bool interleaved = false;
  bool one_position = false;
};

tl::expected<rotary, std::string> rotary_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  for (const std::size_t index : {0U, 2U, 3U})
    if (spec.inputs[index].desc.type != dtype::float32)
      return decline("input {} is {}, not FP32", index, to_string(spec.inputs[index].desc.type));
  const auto& attributes = *spec.attributes;
  const auto& x = spec.inputs[0].desc.dims;
  const auto& cache = spec.inputs[2].desc.dims;
  if (attributes.integer("is_packed_batching", 0) != 0 || attributes.real("scale", 1.0F) != 1.0F)
    return decline("is_packed_batching and scale are not supported");
  if ((x.size() != 3 && x.size() != 4) || cache.size() != 2 || spec.inputs[3].desc.dims != cache)
    return decline("input {} with caches {} and {}", to_string(x), to_string(cache),
                   to_string(spec.inputs[3].desc.dims));
  rotary made;
  made.by_head = x.size() == 4;
  made.batch = x[0];
  made.length = made.by_head ? x[2] : x[1];
  made.half = cache[1];
  made.positions = cache[0];
  made.interleaved = attributes.integer("interleaved", 0) != 0;
  const auto whole = attributes.integer("rotary_embedding_dim", 0);
  const auto heads = attributes.integer("num_heads", 0);
  if (made.by_head) {
    made.heads = x[1];
    made.size = x[3];
  } else {
    made.heads = heads > 0 ? heads : made.half > 0 ? x[2] / (2 * made.half) : 0;
    made.size = made.heads > 0 ? x[2] / made.heads : 0;
  }
  if (made.heads < 1 || (!made.by_head && made.size * made.heads != x[2])
      || 2 * made.half > made.size || (whole > 0 && whole != 2 * made.half))
    return decline("caches {} for input {} in {} heads", to_string(cache), to_string(x),
                   made.heads);
  const auto& at = spec.inputs[1].desc;
  made.one_position = at.elements() == 1;
  if (at.type != dtype::int64 || (!made.one_position && at.elements() != made.batch * made.length))
    return decline("position_ids {} of {} for input {}", to_string(at.dims), to_string(at.type),
                   to_string(x));
  return made;
}

} // namespace

made_kernel make_rotary_embedding(const kernel_spec& spec, weight_cache&) {
  const auto made = rotary_of(spec);
  if (!made)
    return tl::unexpected{made.error()};
  return make_kernel({.overwrites = 1}, [of = *made](const kernel_args& args) -> result<void> {
    const auto* x = args.inputs[0].as<const float>();
    const auto* at = args.inputs[1].as<const std::int64_t>();
    auto* y = args.outputs[0].as<float>();
    for (std::int64_t b = 0; b < of.batch; ++b)
      for (std::int64_t s = 0; s < of.length; ++s) {
        const auto position = of.one_position ? at[0] : at[b * of.length + s];
        if (position < 0 || position >= of.positions - (of.one_position ? s : 0))
          return fail(errc::invalid_argument, "a position in [0, {}) expected, {} found",
                      of.positions, position);
        const auto row = (position + (of.one_position ? s : 0)) * of.half;
        for (std::int64_t h = 0; h < of.heads; ++h) {
          const auto place = of.by_head ? ((b * of.heads + h) * of.length + s) * of.size
                                        : ((b * of.length + s) * of.heads + h) * of.size;
          rotate(x + place, y + place, args.inputs[2].as<const float>() + row,
                 args.inputs[3].as<const float>() + row, of.half, of.size, of.interleaved);
        }
      }
    return {};
  });
}

} // namespace troupe::cpu
