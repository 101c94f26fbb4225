// com.microsoft MultiHeadAttention-1: query [B, S, N H], key and value [B, L, …] or [B, N, L, …],
// FP32. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md

#include "kernels/cpu/contrib/attend.hpp"
#include "kernels/cpu/contrib/kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

enum input : std::size_t { query, key, value, bias, mask, scores_bias, past_key, past_value };

// How a mask says which keys count.
enum class mask_kind : std::uint8_t { none, lengths, keys, pairs };

struct multi_head {
  attention core;
  std::int64_t new_keys = 0;
  std::int64_t past = 0;
  bool keys_by_head = false; ///< key is [B, N, L, H]
  bool values_by_head = false;
  bool causal = false;
  mask_kind masked = mask_kind::none;
  float masked_score = -10000;
  shape added; ///< dims of input scores_bias

  [[nodiscard]] std::int64_t keys() const { return past + new_keys; }
  [[nodiscard]] std::int64_t query_floats() const {
    return core.batch * core.heads * core.queries * core.size;
  }
  [[nodiscard]] std::int64_t key_floats(std::int64_t size) const {
    return core.batch * core.heads * keys() * size;
  }
};

tl::expected<multi_head, std::string> multi_head_of(const kernel_spec& spec) {
  for (const auto index : {query, key, value, bias, scores_bias, past_key, past_value})
    if (has_input(spec, index) && spec.inputs[index].desc.type != dtype::float32)
      return decline("input {} is {}, not FP32", static_cast<int>(index),
                     to_string(spec.inputs[index].desc.type));
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (!has_input(spec, key) || !has_input(spec, value) || spec.inputs.size() > 8)
    return decline("packed queries, keys and values or an input behind past_value");
  const auto& q = spec.inputs[query].desc.dims;
  const auto& k = spec.inputs[key].desc.dims;
  const auto& v = spec.inputs[value].desc.dims;
  const auto heads = spec.attributes->integer("num_heads", 0);
  if (q.size() != 3 || (k.size() != 3 && k.size() != 4) || (v.size() != 3 && v.size() != 4)
      || heads < 1 || q[2] % heads != 0)
    return decline("query {}, key {} and value {} in {} heads", to_string(q), to_string(k),
                   to_string(v), heads);
  multi_head made;
  made.keys_by_head = k.size() == 4;
  made.values_by_head = v.size() == 4;
  made.core.batch = q[0];
  made.core.heads = made.core.kv_heads = heads;
  made.core.queries = q[1];
  made.core.size = q[2] / heads;
  made.core.value_size = made.values_by_head ? v[3] : v[2] / heads;
  made.core.threads = spec.threads;
  made.new_keys = made.keys_by_head ? k[2] : k[1];
  const auto written = spec.attributes->real("scale", 0);
  made.core.scale = written != 0 ? written : 1.0F / std::sqrt(static_cast<float>(made.core.size));
  made.causal = spec.attributes->integer("unidirectional", 0) != 0;
  made.masked_score = spec.attributes->real("mask_filter_value", -10000.0F);
  const auto expect = [&](std::size_t index, const shape& dims) {
    return !has_input(spec, index) || spec.inputs[index].desc.dims == dims;
  };
  const auto by_head = [&](std::int64_t length, std::int64_t size) {
    return shape{made.core.batch, heads, length, size};
  };
  if (has_input(spec, past_key) && spec.inputs[past_key].desc.dims.size() == 4)
    made.past = spec.inputs[past_key].desc.dims[2];
  const auto flat = [&](std::int64_t size) {
    return shape{made.core.batch, made.new_keys, heads * size};
  };
  if (!expect(key,
              made.keys_by_head ? by_head(made.new_keys, made.core.size) : flat(made.core.size))
      || !expect(value, made.values_by_head ? by_head(made.new_keys, made.core.value_size)
                                            : flat(made.core.value_size))
      || !expect(past_key, by_head(made.past, made.core.size))
      || !expect(past_value, by_head(made.past, made.core.value_size))
      || has_input(spec, past_key) != has_input(spec, past_value)
      || !expect(bias, {heads * (2 * made.core.size + made.core.value_size)}))
    return decline("key {}, value {}, bias or past do not fit query {} in {} heads", to_string(k),
                   to_string(v), to_string(q), heads);
  if (has_input(spec, mask)) {
    const auto& dims = spec.inputs[mask].desc.dims;
    if (spec.inputs[mask].desc.type != dtype::int32)
      return decline("mask of {}", to_string(spec.inputs[mask].desc.type));
    if (dims == shape{made.core.batch})
      made.masked = mask_kind::lengths;
    else if (dims == shape{made.core.batch, made.keys()})
      made.masked = mask_kind::keys;
    else if (dims == shape{made.core.batch, made.core.queries, made.keys()})
      made.masked = mask_kind::pairs;
    else
      return decline("mask {} for {} keys", to_string(dims), made.keys());
  }
  if (has_input(spec, scores_bias)) {
    made.added = spec.inputs[scores_bias].desc.dims;
    if (made.added.size() != 4 || (made.added[0] != 1 && made.added[0] != made.core.batch)
        || (made.added[1] != 1 && made.added[1] != heads) || made.added[2] != made.core.queries
        || made.added[3] != made.keys())
      return decline("attention_bias {} for {} keys", to_string(made.added), made.keys());
  }
  return made;
}

// Rows of heads, [B, L, N H] or [B, N, L, H], with their bias behind the past ones into
// [B, N, P + L, H].
void collect(const multi_head& of, const float* from, bool by_head, const float* added,
             const float* past, std::int64_t size, float* to) {
  const auto heads = of.core.heads;
  for (std::int64_t b = 0; b < of.core.batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      auto* out = to + (b * heads + h) * of.keys() * size;
      if (past != nullptr && of.past > 0)
        std::memcpy(out, past + (b * heads + h) * of.past * size,
                    static_cast<std::size_t>(of.past * size) * sizeof(float));
      out += of.past * size;
      for (std::int64_t s = 0; s < of.new_keys; ++s, out += size) {
        const auto* row = by_head ? from + ((b * heads + h) * of.new_keys + s) * size
                                  : from + ((b * of.new_keys + s) * heads + h) * size;
        for (std::int64_t c = 0; c < size; ++c)
          out[c] = row[c] + (added != nullptr && !by_head ? added[h * size + c] : 0.0F);
      }
    }
}

} // namespace

made_kernel make_multi_head_attention(const kernel_spec& spec, weight_cache&) {
  const auto made = multi_head_of(spec);
  if (!made)
    return tl::unexpected{made.error()};
  const auto& of = *made;
  const auto floats =
      of.query_floats() + of.key_floats(of.core.size) + of.key_floats(of.core.value_size);
  return make_kernel(
      {.workspace_bytes = static_cast<std::size_t>(floats) * sizeof(float)},
      [of](const kernel_args& args) {
        const auto floats_of = [&](std::size_t index) {
          return has_data(args, index) ? args.inputs[index].as<const float>() : nullptr;
        };
        const auto& core = of.core;
        auto* scratch = reinterpret_cast<float*>(args.workspace.data());
        const auto target = [&](std::size_t output, std::int64_t count) {
          auto* mine = scratch;
          scratch += count;
          const bool wanted = output < args.outputs.size() && args.outputs[output].data != nullptr;
          return wanted ? args.outputs[output].as<float>() : mine;
        };
        auto* k = target(1, of.key_floats(core.size));
        auto* v = target(2, of.key_floats(core.value_size));
        auto* q = scratch;
        const auto* offset = floats_of(bias);
        const auto width = core.heads * core.size;
        const auto* x = floats_of(query);
        for (std::int64_t i = 0; i < of.query_floats(); ++i)
          q[i] = x[i] + (offset != nullptr ? offset[i % width] : 0.0F);
        collect(of, floats_of(key), of.keys_by_head, offset ? offset + width : nullptr,
                floats_of(past_key), core.size, k);
        collect(of, floats_of(value), of.values_by_head, offset ? offset + 2 * width : nullptr,
                floats_of(past_value), core.value_size, v);
        const auto* marks =
            has_data(args, mask) ? args.inputs[mask].as<const std::int32_t>() : nullptr;
        const auto* added = floats_of(scores_bias);
        const auto keys = of.keys();
        const auto counts = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
          switch (of.masked) {
            case mask_kind::lengths: return j < marks[b];
            case mask_kind::keys: return marks[b * keys + j] > 0;
            case mask_kind::pairs: return marks[(b * core.queries + i) * keys + j] > 0;
            case mask_kind::none: break;
          }
          return true;
        };
        const head_view<const float> query_heads{q, core.queries * width, core.size, width};
        const head_view<const float> key_heads{k, core.heads * keys * core.size, keys * core.size,
                                               core.size};
        const head_view<const float> value_heads{v, core.heads * keys * core.value_size,
                                                 keys * core.value_size, core.value_size};
        const auto out_width = core.heads * core.value_size;
        const head_view<float> out{args.outputs[0].as<float>(), core.queries * out_width,
                                   core.value_size, out_width};
        core(
            query_heads, key_heads, value_heads, out,
            [&](std::int64_t, std::int64_t i) {
              return attention::key_range{0, of.causal ? std::min(keys, of.past + i + 1) : keys};
            },
            [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
              float more = counts(b, i, j) ? 0.0F : of.masked_score;
              if (added != nullptr)
                more +=
                    added[(((of.added[0] == 1 ? 0 : b) * of.added[1] + (of.added[1] == 1 ? 0 : h))
                               * core.queries
                           + i)
                              * keys
                          + j];
              return more;
            },
            keys);
      });
}

} // namespace troupe::cpu
