#include "kernels/cpu/contrib/multi_head_form.hpp"

#include "kernels/cpu/spec.hpp"

#include <cmath>
#include <limits>

namespace troupe::cpu::multi_head {

namespace {

using attention_blocks::head_strides;

head_strides in_heads(std::int64_t heads, std::int64_t length, std::int64_t size) {
  return {heads * length * size, length * size, size, 1};
}

head_strides in_rows(std::int64_t heads, std::int64_t length, std::int64_t size) {
  return {length * heads * size, size, heads * size, 1};
}

// How the tensors lie that the products read, and what is added to scores.
std::optional<std::string> complete(const kernel_spec& spec, form& made) {
  auto& core = made.core;
  core.keys = made.keys();
  core.zero_if_blind = true;
  const auto lies = [&](bool gathered, bool by_head, std::int64_t size) {
    return gathered || by_head ? in_heads(core.heads, gathered ? core.keys : made.new_keys, size)
                               : in_rows(core.heads, made.new_keys, size);
  };
  core.q = in_rows(core.heads, core.queries, core.size);
  core.k = lies(made.gathers(made.shows_keys, made.keys_by_head), made.keys_by_head, core.size);
  core.v = lies(made.gathers(made.shows_values, made.values_by_head), made.values_by_head,
                core.value_size);
  core.out = in_rows(core.heads, core.queries, core.value_size);
  if (made.masked != mask_kind::none)
    core.steps[core.step_count++].strides = {made.marks(), 0,
                                             made.masked == mask_kind::pairs ? core.keys : 0, 1};
  if (has_input(spec, scores_bias)) {
    const auto& added = spec.inputs[scores_bias].desc.dims;
    if (added.size() != 4 || (added[0] != 1 && added[0] != core.batch)
        || (added[1] != 1 && added[1] != core.heads) || added[2] != core.queries
        || added[3] != core.keys)
      return fmt::format("attention_bias {} for {} keys", to_string(added), core.keys);
    const auto strides = row_major_strides(added);
    core.steps[core.step_count++].strides = {added[0] == 1 ? 0 : strides[0],
                                             added[1] == 1 ? 0 : strides[1], strides[2], 1};
  }
  if (core.keys > std::numeric_limits<std::int32_t>::max())
    return fmt::format("{} keys", core.keys);
  return std::nullopt;
}

} // namespace

tl::expected<form, std::string> form_of(const kernel_spec& spec) {
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
  form made;
  made.keys_by_head = k.size() == 4;
  made.values_by_head = v.size() == 4;
  made.core.batch = q[0];
  made.core.heads = made.core.kv_heads = heads;
  made.core.queries = q[1];
  made.core.size = q[2] / heads;
  made.core.value_size = made.values_by_head ? v[3] : v[2] / heads;
  made.threads = spec.threads;
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
  made.biased = has_input(spec, bias);
  made.shows_keys = has_output(spec, 1);
  made.shows_values = has_output(spec, 2);
  if (auto why = complete(spec, made))
    return decline("{}", *why);
  return made;
}

} // namespace troupe::cpu::multi_head
