// com.microsoft GroupQueryAttention-1: query [B, S, N H], key and value [B, S, M H] (or all three
// in query), past [B, M, P, H], FP32. The new keys stand behind the past ones of their batch entry.

#include "kernels/cpu/attention/blocks.hpp"
#include "kernels/cpu/contrib/kernels.hpp"
#include "kernels/cpu/contrib/rotate.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace troupe::cpu {

namespace {

enum input : std::size_t {
  query,
  key,
  value,
  past_key,
  past_value,
  lengths, ///< of each batch entry with the new positions, less one
  total,   ///< the longest of them
  cosines,
  sines
};

using attention_blocks::head_strides;
using attention_blocks::key_range;

struct grouped {
  attention_blocks::problem core;
  int threads = 1;
  bool packed = false;
  bool rotates = false;
  bool interleaved = false;
  std::int64_t past = 0; ///< room in the past
  std::int64_t keys = 0; ///< room in the present
  std::int64_t window = -1;
  std::int64_t half = 0;
  std::int64_t positions = 0; ///< rows of the caches

  [[nodiscard]] std::int64_t query_row() const {
    return (core.heads + (packed ? 2 * core.kv_heads : 0)) * core.size;
  }
  [[nodiscard]] std::int64_t key_row() const {
    return packed ? query_row() : core.kv_heads * core.size;
  }
};

tl::expected<grouped, std::string> grouped_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  for (const auto index : {query, key, value, past_key, past_value, cosines, sines})
    if (has_input(spec, index) && spec.inputs[index].desc.type != dtype::float32)
      return decline("input {} is {}, not FP32", static_cast<int>(index),
                     to_string(spec.inputs[index].desc.type));
  for (std::size_t index = sines + 1; index < spec.inputs.size(); ++index)
    if (has_input(spec, index))
      return decline("input {} is not supported", index);
  const auto& attributes = *spec.attributes;
  if (attributes.integer("smooth_softmax", 0) > 0 || !has_input(spec, lengths))
    return decline("smooth_softmax, or no seqlens_k");
  grouped made;
  auto& core = made.core;
  core.heads = attributes.integer("num_heads", 0);
  core.kv_heads = attributes.integer("kv_num_heads", 0);
  const auto& q = spec.inputs[query].desc.dims;
  made.packed = !has_input(spec, key);
  if (q.size() != 3 || core.heads < 1 || core.kv_heads < 1 || core.heads % core.kv_heads != 0)
    return decline("query {} in {} heads with {} of keys", to_string(q), core.heads, core.kv_heads);
  core.batch = q[0];
  core.queries = q[1];
  core.size = core.value_size = q[2] / (core.heads + (made.packed ? 2 * core.kv_heads : 0));
  made.threads = spec.threads;
  core.softcap = attributes.real("softcap", 0);
  const auto scale = attributes.real("scale", 0);
  core.scale = scale != 0 ? scale : 1.0F / std::sqrt(static_cast<float>(core.size));
  made.window = attributes.integer("local_window_size", -1);
  made.rotates = attributes.integer("do_rotary", 0) != 0;
  made.interleaved = attributes.integer("rotary_interleaved", 0) != 0;
  const shape flat{core.batch, core.queries, core.kv_heads * core.size};
  bool fits = made.query_row() == q[2] && has_input(spec, key) == has_input(spec, value)
              && has_input(spec, past_key) == has_input(spec, past_value)
              && spec.inputs[lengths].desc.type == dtype::int32
              && spec.inputs[lengths].desc.elements() == core.batch && spec.outputs.size() == 3;
  if (fits && !made.packed)
    fits = spec.inputs[key].desc.dims == flat && spec.inputs[value].desc.dims == flat;
  if (fits && has_input(spec, past_key)) {
    const auto& dims = spec.inputs[past_key].desc.dims;
    fits = dims.size() == 4;
    made.past = fits ? dims[2] : 0;
    fits = fits && dims == shape{core.batch, core.kv_heads, made.past, core.size}
           && spec.inputs[past_value].desc.dims == dims;
  }
  if (fits) {
    made.keys = spec.outputs[1].dims[2];
    fits = has_output(spec, 1) && has_output(spec, 2);
  }
  if (fits && made.rotates) {
    fits = has_input(spec, cosines) && has_input(spec, sines)
           && spec.inputs[cosines].desc.dims.size() == 2
           && spec.inputs[cosines].desc.dims == spec.inputs[sines].desc.dims;
    made.half = fits ? spec.inputs[cosines].desc.dims[1] : 0;
    made.positions = fits ? spec.inputs[cosines].desc.dims[0] : 0;
    fits = fits && 2 * made.half <= core.size;
  }
  if (!fits || made.keys > std::numeric_limits<std::int32_t>::max())
    return decline("inputs that do not fit query {} in {} heads with {} of keys", to_string(q),
                   core.heads, core.kv_heads);
  const auto width = core.heads * core.size;
  const auto room = made.keys * core.size;
  core.keys = made.keys;
  core.zero_if_blind = true;
  core.q = core.out = head_strides{core.queries * width, core.size, width, 1};
  core.k = core.v = head_strides{core.kv_heads * room, room, core.size, 1};
  return made;
}

// Where the new positions of a batch entry begin.
std::int64_t past_of(const grouped& of, const kernel_args& args, std::int64_t b) {
  const std::int64_t all = args.inputs[lengths].as<const std::int32_t>()[b] + std::int64_t{1};
  return std::max<std::int64_t>(all - of.core.queries, 0);
}

result<void> check_lengths(const grouped& of, const kernel_args& args) {
  for (std::int64_t b = 0; b < of.core.batch; ++b) {
    const auto all = args.inputs[lengths].as<const std::int32_t>()[b];
    const auto past = past_of(of, args, b);
    const auto most = std::min(of.keys, of.rotates ? of.positions : of.keys);
    if (all < 0 || past > of.past || past + of.core.queries > most)
      return fail(errc::invalid_argument,
                  "seqlens_k in [0, {}) and at most {} past positions expected, {} found", most,
                  of.past, all);
  }
  return {};
}

// The present keys or values of all batch entries: the past, the new ones, zeros.
void collect(const grouped& of, const kernel_args& args, const float* from, const float* past,
             bool rotates, float* to) {
  const auto size = of.core.size;
  const auto room = of.keys * size;
  for (std::int64_t b = 0; b < of.core.batch; ++b)
    for (std::int64_t h = 0; h < of.core.kv_heads; ++h) {
      auto* out = to + (b * of.core.kv_heads + h) * room;
      const auto before = past_of(of, args, b);
      std::fill_n(out, room, 0.0F);
      if (before > 0)
        std::memcpy(out, past + (b * of.core.kv_heads + h) * of.past * size,
                    static_cast<std::size_t>(before * size) * sizeof(float));
      for (std::int64_t s = 0; s < of.core.queries; ++s) {
        const auto* row = from + (b * of.core.queries + s) * of.key_row() + h * size;
        const auto at = (before + s) * of.half;
        if (rotates)
          rotate(row, out + (before + s) * size, args.inputs[cosines].as<const float>() + at,
                 args.inputs[sines].as<const float>() + at, of.half, size, of.interleaved);
        else
          std::memcpy(out + (before + s) * size, row,
                      static_cast<std::size_t>(size) * sizeof(float));
      }
    }
}

void rotate_queries(const grouped& of, const kernel_args& args, const float* from, float* to) {
  const auto& core = of.core;
  for (std::int64_t b = 0; b < core.batch; ++b)
    for (std::int64_t s = 0; s < core.queries; ++s) {
      const auto at = (past_of(of, args, b) + s) * of.half;
      for (std::int64_t h = 0; h < core.heads; ++h) {
        const auto* row = from + (b * core.queries + s) * of.query_row() + h * core.size;
        auto* out = to + ((b * core.queries + s) * core.heads + h) * core.size;
        if (of.rotates)
          rotate(row, out, args.inputs[cosines].as<const float>() + at,
                 args.inputs[sines].as<const float>() + at, of.half, core.size, of.interleaved);
        else
          std::memcpy(out, row, static_cast<std::size_t>(core.size) * sizeof(float));
      }
    }
}

// Queries see the keys up to their own position, in a window if there is one.
void find_ranges(const grouped& of, const kernel_args& args, key_range* to) {
  for (std::int64_t b = 0; b < of.core.batch; ++b)
    for (std::int64_t i = 0; i < of.core.queries; ++i) {
      const auto last = past_of(of, args, b) + i + 1;
      const auto first = of.window > 0 ? std::max<std::int64_t>(last - of.window, 0) : 0;
      *to++ = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)};
    }
}

} // namespace

made_kernel make_group_query_attention(const kernel_spec& spec, weight_cache&) {
  const auto made = grouped_of(spec);
  if (!made)
    return tl::unexpected{made.error()};
  const auto& core = made->core;
  const auto blocks = core.workspace() * core.members(made->threads);
  const auto queries = core.batch * core.queries * core.heads * core.size;
  static_assert(sizeof(key_range) == 2 * sizeof(float));
  return make_kernel(
      {.name = "blocks",
       .workspace_bytes = static_cast<std::size_t>(blocks + queries + 2 * core.batch * core.queries)
                          * sizeof(float)},
      [of = *made, blocks, queries](const kernel_args& args) -> result<void> {
        if (auto good = check_lengths(of, args); !good)
          return good;
        const auto& heads = of.core;
        const auto* x = args.inputs[query].as<const float>();
        const auto new_ones = [&](std::size_t index, std::int64_t before) {
          return of.packed ? x + before * heads.size : args.inputs[index].as<const float>();
        };
        const auto past = [&](std::size_t index) {
          return has_data(args, index) ? args.inputs[index].as<const float>() : nullptr;
        };
        auto* k = args.outputs[1].as<float>();
        auto* v = args.outputs[2].as<float>();
        collect(of, args, new_ones(key, heads.heads), past(past_key), of.rotates, k);
        collect(of, args, new_ones(value, heads.heads + heads.kv_heads), past(past_value), false,
                v);
        auto* room = reinterpret_cast<float*>(args.workspace.data());
        auto* q = room + blocks;
        rotate_queries(of, args, x, q);
        auto* ranges = reinterpret_cast<key_range*>(q + queries);
        find_ranges(of, args, ranges);
        attention_blocks::run(
            heads, {.q = q, .k = k, .v = v, .out = args.outputs[0].as<float>(), .ranges = ranges},
            of.threads, room);
        return {};
      });
}

} // namespace troupe::cpu
