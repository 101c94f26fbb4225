// Attention as a recurrence over a state of keys by values. ONNX: LinearAttention-27.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

struct linear_form {
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t key_size = 0;
  std::int64_t value_size = 0;
  std::int64_t decays = 0; ///< a head and step: 0, 1 or one for each element of a key
  std::int64_t betas = 0;  ///< a step: 0, 1 or one for each head
  double scale = 1;
};

// One head of one sequence; `state` is [key_size, value_size], `held` what it holds for a key.
void run_head(const linear_form& form, const kernel_args& args, std::int64_t b, std::int64_t head,
              double* state, double* held) {
  const auto q = input_numbers(args, 0);
  const auto k = input_numbers(args, 1);
  const auto v = input_numbers(args, 2);
  const auto decay = input_numbers(args, 4);
  const auto beta = input_numbers(args, 5);
  const auto y = output_numbers(args, 0);
  const auto group = form.q_heads / form.kv_heads;
  for (std::int64_t t = 0; t < form.length; ++t) {
    const auto step = b * form.length + t;
    const auto key_at = (step * form.kv_heads + head) * form.key_size;
    const auto value_at = (step * form.kv_heads + head) * form.value_size;
    for (std::int64_t i = 0; form.decays != 0 && i < form.key_size; ++i) {
      const double kept =
          std::exp(decay[(step * form.kv_heads + head) * form.decays + (form.decays == 1 ? 0 : i)]);
      for (std::int64_t j = 0; j < form.value_size; ++j)
        state[i * form.value_size + j] *= kept;
    }
    const double rate =
        form.betas == 0 ? 1.0 : beta[step * form.betas + (form.betas == 1 ? 0 : head)];
    std::fill_n(held, form.value_size, 0.0);
    for (std::int64_t i = 0; form.betas != 0 && i < form.key_size; ++i)
      for (std::int64_t j = 0; j < form.value_size; ++j)
        held[j] += state[i * form.value_size + j] * k[key_at + i];
    for (std::int64_t i = 0; i < form.key_size; ++i)
      for (std::int64_t j = 0; j < form.value_size; ++j)
        state[i * form.value_size + j] += k[key_at + i] * rate * (v[value_at + j] - held[j]);
    for (auto reader = head * group; reader < (head + 1) * group; ++reader)
      for (std::int64_t j = 0; j < form.value_size; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < form.key_size; ++i)
          sum += q[(step * form.q_heads + reader) * form.key_size + i]
                 * state[i * form.value_size + j];
        y.set((step * form.q_heads + reader) * form.value_size + j, form.scale * sum);
      }
  }
}

void run(const linear_form& form, const kernel_args& args) {
  const auto past = input_numbers(args, 3);
  const auto present = output_numbers(args, 1);
  const auto size = form.key_size * form.value_size;
  auto* state = reinterpret_cast<double*>(args.workspace.data());
  for (std::int64_t b = 0; b < form.batch; ++b)
    for (std::int64_t head = 0; head < form.kv_heads; ++head) {
      const auto start = (b * form.kv_heads + head) * size;
      for (std::int64_t i = 0; i < size; ++i)
        state[i] = past ? past[start + i] : 0.0;
      run_head(form, args, b, head, state, state + size);
      for (std::int64_t i = 0; present && i < size; ++i)
        present.set(start + i, state[i]);
    }
}

// The heads, and which of decay and beta the update rule has.
std::optional<std::string> read_form(const kernel_spec& spec, linear_form& form) {
  const auto& q = spec.inputs[0].desc.dims;
  const auto& k = spec.inputs[1].desc.dims;
  const auto& v = spec.inputs[2].desc.dims;
  form.q_heads = spec.attributes->integer("q_num_heads", 0);
  form.kv_heads = spec.attributes->integer("kv_num_heads", 0);
  if (form.q_heads < 1 || form.kv_heads < 1 || form.q_heads % form.kv_heads != 0)
    return fmt::format("query heads that are a multiple of the key heads expected, {} and {} found",
                       form.q_heads, form.kv_heads);
  if (q.size() != 3 || k.size() != 3 || v.size() != 3)
    return "queries, keys and values of rank 3 expected";
  form.batch = q[0];
  form.length = q[1];
  form.key_size = q[2] / form.q_heads;
  form.value_size = v[2] / form.kv_heads;
  if (q[2] != form.key_size * form.q_heads
      || k != shape{form.batch, form.length, form.kv_heads * form.key_size}
      || v != shape{form.batch, form.length, form.kv_heads * form.value_size})
    return fmt::format("keys and values of {} heads like queries {} expected, {} and {} found",
                       form.kv_heads, to_string(q), to_string(k), to_string(v));
  const auto rule = spec.attributes->text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if ((!gated && !delta && rule != "linear") || gated != has_input(spec, 4)
      || delta != has_input(spec, 5))
    return fmt::format(
        "the inputs of update rule '{}' expected: decay of gated ones, beta of delta "
        "ones",
        rule);
  const auto last = [&](std::size_t input) {
    const auto& dims = spec.inputs[input].desc.dims;
    return dims.size() == 3 && dims[0] == form.batch && dims[1] == form.length ? dims[2] : -1;
  };
  if (gated)
    form.decays = last(4) == form.kv_heads                   ? 1
                  : last(4) == form.kv_heads * form.key_size ? form.key_size
                                                             : -1;
  if (delta)
    form.betas = last(5) == form.kv_heads || last(5) == 1 ? last(5) : -1;
  if (form.decays < 0 || form.betas < 0)
    return "decay of each head or key element and beta of each head or step expected";
  return std::nullopt;
}

} // namespace

made_kernel make_reference_linear_attention(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  linear_form form;
  if (auto wrong = read_form(spec, form))
    return decline("{}", *wrong);
  if (has_input(spec, 3)
      && spec.inputs[3].desc.dims
             != shape{form.batch, form.kv_heads, form.key_size, form.value_size})
    return decline("a past state of {} by {} a head expected, {} found", form.key_size,
                   form.value_size, to_string(spec.inputs[3].desc.dims));
  const auto scale = static_cast<double>(spec.attributes->real("scale", 0.0F));
  form.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(form.key_size));
  const auto room = static_cast<std::size_t>((form.key_size + 1) * form.value_size);
  return make_kernel({.workspace_bytes = room * sizeof(double)},
                     [form](const kernel_args& args) { run(form, args); });
}

} // namespace troupe::cpu
