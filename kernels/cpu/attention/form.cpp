#include "kernels/cpu/attention/form.hpp"

#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

constexpr std::size_t q_input = 0, k_input = 1, v_input = 2, mask_input = 3, past_k = 4, past_v = 5,
                      lengths_input = 6;

std::optional<std::string> read_heads(const kernel_spec& spec, attention_form& form) {
  const auto& q = spec.inputs[q_input].desc.dims;
  const auto& k = spec.inputs[k_input].desc.dims;
  const auto& v = spec.inputs[v_input].desc.dims;
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
    return fmt::format("queries, keys and values of rank 3 or 4 expected, {}, {} and {} found",
                       to_string(q), to_string(k), to_string(v));
  form.together = q.size() == 3;
  form.batch = q[0];
  const std::size_t length = form.together ? 1 : 2;
  form.q_heads = form.together ? spec.attributes->integer("q_num_heads", 0) : q[1];
  form.kv_heads = form.together ? spec.attributes->integer("kv_num_heads", 0) : k[1];
  if (form.q_heads < 1 || form.kv_heads < 1 || form.q_heads % form.kv_heads != 0)
    return fmt::format("query heads that are a multiple of the key heads expected, {} and {} found",
                       form.q_heads, form.kv_heads);
  form.q_length = q[length];
  form.kv_length = k[length];
  form.head_size = form.together ? q[2] / form.q_heads : q[3];
  form.v_head_size = form.together ? v[2] / form.kv_heads : v[3];
  const shape keys = form.together
                         ? shape{form.batch, form.kv_length, form.kv_heads * form.head_size}
                         : shape{form.batch, form.kv_heads, form.kv_length, form.head_size};
  auto values = keys;
  values.back() = form.together ? form.kv_heads * form.v_head_size : form.v_head_size;
  if (k != keys || v != values || (form.together && q[2] != form.q_heads * form.head_size))
    return fmt::format("keys {} and values {} expected, {} and {} found", to_string(keys),
                       to_string(values), to_string(k), to_string(v));
  return std::nullopt;
}

std::optional<std::string> read_past(const kernel_spec& spec, attention_form& form) {
  if (has_input(spec, past_k) != has_input(spec, past_v))
    return "past keys and values together expected, one found";
  if (has_input(spec, past_k)) {
    const auto& k = spec.inputs[past_k].desc.dims;
    const auto& v = spec.inputs[past_v].desc.dims;
    if (k.size() == 4)
      form.past_length = k[2];
    const shape keys{form.batch, form.kv_heads, form.past_length, form.head_size};
    const shape values{form.batch, form.kv_heads, form.past_length, form.v_head_size};
    if (k != keys || v != values)
      return fmt::format("past keys {} and values {} expected, {} and {} found", to_string(keys),
                         to_string(values), to_string(k), to_string(v));
  }
  if (has_input(spec, lengths_input)
      && (spec.inputs[lengths_input].desc.type != dtype::int64
          || spec.inputs[lengths_input].desc.dims != shape{form.batch}))
    return fmt::format("INT64 lengths [{}] expected, {} found", form.batch,
                       to_string(spec.inputs[lengths_input].desc.dims));
  return std::nullopt;
}

std::optional<std::string> read_mask(const kernel_spec& spec, attention_form& form) {
  if (!has_input(spec, mask_input))
    return std::nullopt;
  const auto& desc = spec.inputs[mask_input].desc;
  const shape full{form.batch, form.q_heads, form.q_length, form.total_length()};
  form.mask_is_bool = desc.type == dtype::boolean;
  form.mask = desc.dims;
  if (form.mask.empty() || form.mask.size() > full.size())
    return fmt::format("a mask that broadcasts to {} expected, {} found", to_string(full),
                       to_string(desc.dims));
  form.mask.insert(form.mask.begin(), full.size() - form.mask.size(), 1);
  form.mask_strides = row_major_strides(form.mask);
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    const bool keys = axis + 1 == full.size();
    if (form.mask[axis] == 1 && full[axis] != 1)
      form.mask_strides[axis] = 0;
    else if (keys ? form.mask[axis] > full[axis] : form.mask[axis] != full[axis])
      return fmt::format("a mask that broadcasts to {} expected, {} found", to_string(full),
                         to_string(desc.dims));
  }
  return std::nullopt;
}

} // namespace

attention_form::key_range attention_form::keys_of(std::int64_t i, std::int64_t offset,
                                                  std::int64_t valid) const noexcept {
  key_range range{0, std::clamp<std::int64_t>(valid, 0, total_length())};
  const auto position = i + offset;
  if (causal)
    range.last = std::min(range.last, position + 1);
  if (right_window >= 0)
    range.last = std::min(range.last, position + right_window + 1);
  if (left_window >= 0)
    range.first = std::max<std::int64_t>(0, position - left_window);
  range.last = std::max(range.last, range.first);
  return range;
}

tl::expected<attention_form, std::string> attention_form_of(const kernel_spec& spec) {
  attention_form form;
  for (auto* read : {read_heads, read_past, read_mask})
    if (auto wrong = read(spec, form))
      return decline("{}", *wrong);
  const auto& attributes = *spec.attributes;
  form.scale = attributes.has("scale")
                   ? static_cast<double>(attributes.real("scale", 1.0F))
                   : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(form.head_size, 1)));
  form.softcap = static_cast<double>(attributes.real("softcap", 0.0F));
  form.causal = attributes.integer("is_causal", 0) != 0;
  constexpr std::int64_t widest = std::int64_t{1} << 40; // no tensor is longer
  form.left_window = std::min(widest, attributes.integer("left_window_size", -1));
  form.right_window = std::min(widest, attributes.integer("right_window_size", -1));
  form.qk_output_mode = attributes.integer("qk_matmul_output_mode", 0);
  if (form.left_window < -1 || form.right_window < -1 || form.qk_output_mode < 0
      || form.qk_output_mode > 3)
    return decline(
        "windows of -1 or more and an output mode of 0 to 3 expected, {}, {} and {} found",
        form.left_window, form.right_window, form.qk_output_mode);
  return form;
}

} // namespace troupe::cpu
