#include "kernels/cpu/attention/fused_form.hpp"

#include "kernels/cpu/spec.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

using attention_blocks::head_strides;
using attention_blocks::problem;
using attention_blocks::score_step;

constexpr std::size_t first_operand = 3;

/// A tensor's axes as batch, heads, positions, elements.
struct sorted_axes {
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
  std::array<std::int64_t, 4> strides{};

  [[nodiscard]] head_strides heads() const {
    return {strides[0], strides[1], strides[2], strides[3]};
  }
};

std::optional<sorted_axes> sorted(const tensor_desc& of, const std::vector<std::int64_t>& perm) {
  const auto rank = of.dims.size();
  std::vector<bool> seen(rank, false);
  if ((rank != 3 && rank != 4) || perm.size() != rank)
    return std::nullopt;
  const auto strides = row_major_strides(of.dims);
  sorted_axes made;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(perm[i]);
    if (perm[i] < 0 || axis >= rank || seen[axis])
      return std::nullopt;
    seen[axis] = true;
    made.sizes[i + 4 - rank] = of.dims[axis];
    made.strides[i + 4 - rank] = strides[axis];
  }
  return made;
}

// Where the output has an axis, in the order of `sorted_axes`.
std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> made(perm.size(), -1);
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] >= 0 && static_cast<std::size_t>(perm[i]) < perm.size())
      made[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return made;
}

std::optional<std::string> read_steps(const kernel_spec& spec, problem& made) {
  const auto kinds = spec.attributes->integers("steps");
  const auto otherwise = spec.attributes->get<std::vector<float>>("otherwise", {});
  if (kinds.size() > problem::most_steps || otherwise.size() != kinds.size()
      || own_inputs(spec) != first_operand + kinds.size())
    return "steps and their operands do not fit";
  for (const auto& operand : spec.inputs.subspan(first_operand))
    if (const auto rank = operand.desc.dims.size(); made.queries == 1 && rank > 1) {
      made.queries = operand.desc.dims[rank - 2];
      made.q.position = 0;
    }
  const std::array full{made.batch, made.heads, made.queries, made.keys};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& operand = spec.inputs[first_operand + i];
    const bool adds = kinds[i] == 0;
    if (!operand.present || kinds[i] < 0 || kinds[i] > 2 || operand.desc.dims.size() > full.size()
        || operand.desc.type != (adds ? dtype::float32 : dtype::boolean))
      return fmt::format("step {} takes no such operand", i);
    score_step step{.what = static_cast<score_step::kind>(kinds[i]), .otherwise = otherwise[i]};
    const auto strides = row_major_strides(operand.desc.dims);
    const auto missing = full.size() - operand.desc.dims.size();
    for (std::size_t axis = 0; axis < operand.desc.dims.size(); ++axis) {
      const auto size = operand.desc.dims[axis];
      if (size != 1 && size != full[axis + missing])
        return fmt::format("operand {} does not broadcast to {}", to_string(operand.desc.dims),
                           to_string(full));
      step.strides[axis + missing] = size == 1 ? 0 : strides[axis];
    }
    made.steps[made.step_count++] = step;
  }
  return std::nullopt;
}

} // namespace

tl::expected<problem, std::string> fused_attention_form(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (auto why = not_plain_float(spec, first_operand))
    return decline("{}", *why);
  const auto& attributes = *spec.attributes;
  const auto q = sorted(spec.inputs[0].desc, attributes.integers("q_perm"));
  const auto k = sorted(spec.inputs[1].desc, attributes.integers("k_perm"));
  const auto v = sorted(spec.inputs[2].desc, attributes.integers("v_perm"));
  const auto out = sorted(spec.outputs[0], inverse(attributes.integers("out_perm")));
  if (!q || !k || !v || !out)
    return decline("a permutation that does not fit its tensor");
  problem made;
  made.batch = q->sizes[0];
  made.heads = attributes.integer("heads", q->sizes[1]);
  made.kv_heads = attributes.integer("kv_heads", k->sizes[1]);
  made.queries = q->sizes[2];
  made.keys = k->sizes[2];
  made.size = q->sizes[3];
  made.value_size = v->sizes[3];
  made.q = q->heads();
  made.k = k->heads();
  made.v = v->heads();
  made.out = out->heads();
  made.scale = attributes.real("scale", 1.0F);
  made.zero_if_blind = attributes.integer("zero_if_blind", 0) != 0;
  const auto beyond = [](const sorted_axes& of, std::int64_t first, std::int64_t count) {
    return first < 0 || count < 0 || first > of.sizes[1] || count > of.sizes[1] - first;
  };
  if (beyond(*q, attributes.integer("q_head", 0), made.heads)
      || beyond(*k, attributes.integer("k_head", 0), made.kv_heads)
      || beyond(*v, attributes.integer("v_head", 0), made.kv_heads)
      || (made.heads > 0 && (made.kv_heads == 0 || made.heads % made.kv_heads != 0))
      || k->sizes[0] != made.batch || v->sizes[0] != made.batch || v->sizes[2] != made.keys
      || k->sizes[3] != made.size)
    return decline("queries {}, keys {} and values {} that do not fit", to_string(q->sizes),
                   to_string(k->sizes), to_string(v->sizes));
  if (made.q.element != 1 || made.v.element != 1 || made.out.element != 1
      || (made.k.element != 1 && made.k.position != 1))
    return decline("elements of a head that do not lie together");
  if (auto why = read_steps(spec, made))
    return decline("{}", *why);
  if (out->sizes != std::array{made.batch, made.heads, made.queries, made.value_size})
    return decline("an output {} that does not fit queries {}", to_string(out->sizes),
                   to_string(q->sizes));
  return made;
}

} // namespace troupe::cpu
