// The kernels of the operator "Attention" of the domain "troupe".

#include "kernels/cpu/attention/fused_form.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cpu {

namespace {

using namespace attention_blocks;

/// Where the first heads begin, in floats.
struct head_offsets {
  std::int64_t q, k, v;

  head_offsets(const kernel_spec& spec, const problem& of)
      : q{spec.attributes->integer("q_head", 0) * of.q.head},
        k{spec.attributes->integer("k_head", 0) * of.k.head}, v{spec.attributes->integer("v_head",
                                                                                         0)
                                                                * of.v.head} {}
};

tensors tensors_in(const kernel_args& args, const problem& of, const head_offsets& first) {
  tensors with;
  with.q = args.inputs[0].as<const float>() + first.q;
  with.k = args.inputs[1].as<const float>() + first.k;
  with.v = args.inputs[2].as<const float>() + first.v;
  with.out = args.outputs[0].as<float>();
  for (std::size_t i = 0; i < of.step_count; ++i)
    with.steps[i] = args.inputs[3 + i].data;
  return with;
}

double take_step(const score_step& step, const void* operand, const std::array<std::int64_t, 4>& at,
                 double score) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    place += at[axis] * step.strides[axis];
  if (step.what == score_step::kind::add)
    return score + static_cast<double>(static_cast<const float*>(operand)[place]);
  const bool found = static_cast<const std::uint8_t*>(operand)[place] != 0;
  const bool stays = found == (step.what == score_step::kind::keep_where);
  return stays ? score : static_cast<double>(step.otherwise);
}

// One query, in double.
void attend(const problem& of, const tensors& with, std::int64_t b, std::int64_t h, std::int64_t i,
            double* weights) {
  const auto kv = h / (of.heads / of.kv_heads);
  const float* query = with.q + b * of.q.batch + h * of.q.head + i * of.q.position;
  const float* keys = with.k + b * of.k.batch + kv * of.k.head;
  const float* values = with.v + b * of.v.batch + kv * of.v.head;
  float* out = with.out + b * of.out.batch + h * of.out.head + i * of.out.position;
  constexpr auto nothing = -std::numeric_limits<double>::infinity();
  double most = nothing;
  for (std::int64_t j = 0; j < of.keys; ++j) {
    double score = 0;
    for (std::int64_t c = 0; c < of.size; ++c)
      score += static_cast<double>(query[c])
               * static_cast<double>(keys[j * of.k.position + c * of.k.element]);
    score *= static_cast<double>(of.scale);
    for (std::size_t step = 0; step < of.step_count; ++step)
      score = take_step(of.steps[step], with.steps[step], {b, h, i, j}, score);
    // Sums of the lowest float and a score are rounded where the model computes them.
    weights[j] = static_cast<double>(static_cast<float>(score));
    most = std::max(most, weights[j]);
  }
  double sum = 0;
  for (std::int64_t j = 0; j < of.keys; ++j)
    sum += weights[j] = std::exp(weights[j] - most);
  const bool blind = of.zero_if_blind && most == nothing;
  for (std::int64_t c = 0; c < of.value_size; ++c) {
    double mixed = 0;
    for (std::int64_t j = 0; j < of.keys && !blind; ++j)
      mixed += weights[j] / sum * static_cast<double>(values[j * of.v.position + c]);
    out[c] = static_cast<float>(mixed);
  }
}

} // namespace

made_kernel make_blocked_fused_attention(const kernel_spec& spec, weight_cache&) {
  const auto form = fused_attention_form(spec);
  if (!form)
    return tl::unexpected{form.error()};
  const auto threads = spec.threads;
  const auto floats = form->workspace() * form->members(threads);
  return make_kernel(
      {.name = "blocks", .workspace_bytes = static_cast<std::size_t>(floats) * sizeof(float)},
      [of = *form, first = head_offsets{spec, *form}, threads](const kernel_args& args) {
        run(of, tensors_in(args, of, first), threads,
            reinterpret_cast<float*>(args.workspace.data()));
      });
}

made_kernel make_reference_fused_attention(const kernel_spec& spec, weight_cache&) {
  const auto form = fused_attention_form(spec);
  if (!form)
    return tl::unexpected{form.error()};
  return make_kernel({.workspace_bytes = static_cast<std::size_t>(form->keys) * sizeof(double)},
                     [of = *form, first = head_offsets{spec, *form}](const kernel_args& args) {
                       const auto with = tensors_in(args, of, first);
                       auto* weights = reinterpret_cast<double*>(args.workspace.data());
                       for (std::int64_t b = 0; b < of.batch; ++b)
                         for (std::int64_t h = 0; h < of.heads; ++h)
                           for (std::int64_t i = 0; i < of.queries; ++i)
                             attend(of, with, b, h, i, weights);
                     });
}

} // namespace troupe::cpu
