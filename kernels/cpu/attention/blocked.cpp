// ONNX's Attention in FP32, a block of queries at a time.

#include "kernels/cpu/attention/blocks.hpp"
#include "kernels/cpu/attention/form.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

namespace {

using namespace attention_blocks;

constexpr std::size_t mask_input = 3, lengths_input = 6;

class blocked_attention {
public:
  blocked_attention(attention_form form, bool has_lengths, int threads)
      : form_{std::move(form)}, threads_{threads}, problem_{problem_of(form_)},
        has_ranges_{has_lengths || form_.causal || form_.left_window >= 0
                    || form_.right_window >= 0} {}

  std::size_t workspace_bytes() const {
    const auto floats = problem_.workspace() * problem_.members(threads_)
                        + present_count(form_.head_size) + present_count(form_.v_head_size);
    return static_cast<std::size_t>(floats) * sizeof(float)
           + static_cast<std::size_t>(has_ranges_ ? form_.batch * form_.q_length : 0)
                 * sizeof(key_range);
  }

  result<void> run(const kernel_args& args) const {
    for (std::int64_t b = 0; has_data(args, lengths_input) && b < form_.batch; ++b)
      if (const auto length = args.inputs[lengths_input].as<const std::int64_t>()[b];
          length < 0 || length > form_.total_length())
        return fail(errc::invalid_argument, "lengths in [0, {}] expected, {} found",
                    form_.total_length(), length);
    auto* blocks = reinterpret_cast<float*>(args.workspace.data());
    auto* room = blocks + problem_.workspace() * problem_.members(threads_);
    auto of = problem_;
    tensors with;
    with.q = args.inputs[0].as<const float>();
    with.k = gather(args, 1, 4, form_.head_size, room, of.k);
    room += present_count(form_.head_size);
    with.v = gather(args, 2, 5, form_.v_head_size, room, of.v);
    room += present_count(form_.v_head_size);
    with.out = args.outputs[0].as<float>();
    if (of.step_count > 0)
      with.steps[0] = args.inputs[mask_input].data;
    if (has_ranges_)
      with.ranges = find_ranges(args, reinterpret_cast<key_range*>(room));
    attention_blocks::run(of, with, threads_, blocks);
    return {};
  }

private:
  static head_strides strides(bool together, std::int64_t heads, std::int64_t length,
                              std::int64_t size) {
    return together ? head_strides{length * heads * size, size, heads * size, 1}
                    : head_strides{heads * length * size, length * size, size, 1};
  }

  static problem problem_of(const attention_form& form) {
    problem of;
    of.batch = form.batch;
    of.heads = form.q_heads;
    of.kv_heads = form.kv_heads;
    of.queries = form.q_length;
    of.keys = form.total_length();
    of.size = form.head_size;
    of.value_size = form.v_head_size;
    of.q = strides(form.together, form.q_heads, form.q_length, form.head_size);
    of.k = strides(form.together, form.kv_heads, form.kv_length, form.head_size);
    of.v = strides(form.together, form.kv_heads, form.kv_length, form.v_head_size);
    of.out = strides(form.together, form.q_heads, form.q_length, form.v_head_size);
    of.scale = static_cast<float>(form.scale);
    of.softcap = std::max(0.0F, static_cast<float>(form.softcap));
    of.zero_if_blind = true;
    if (!form.mask_strides.empty()) {
      auto& step = of.steps[of.step_count++];
      step.what = form.mask_is_bool ? score_step::kind::keep_where : score_step::kind::add;
      step.otherwise = -std::numeric_limits<float>::infinity();
      std::copy_n(form.mask_strides.begin(), step.strides.size(), step.strides.begin());
      if (step.strides[3] != 0 && form.mask[3] < of.keys)
        step.keys = form.mask[3];
    }
    return of;
  }

  std::int64_t present_count(std::int64_t size) const {
    return form_.past_length == 0 ? 0 : form_.batch * form_.kv_heads * form_.total_length() * size;
  }

  // Past and present in one tensor [batch, heads, length, size]: the output, or `room` where nobody
  // asked for it; the input where that is all there is to read. `at` becomes how it lies.
  const float* gather(const kernel_args& args, std::size_t input, std::size_t past,
                      std::int64_t size, float* room, head_strides& at) const {
    const bool wanted = input < args.outputs.size() && args.outputs[input].data != nullptr;
    const auto* now = args.inputs[input].as<const float>();
    if (!wanted && form_.past_length == 0)
      return now;
    float* to = wanted ? args.outputs[input].as<float>() : room;
    const auto from = at;
    const auto total = form_.total_length();
    for (std::int64_t b = 0; b < form_.batch; ++b)
      for (std::int64_t h = 0; h < form_.kv_heads; ++h) {
        const auto head = b * form_.kv_heads + h;
        float* row = to + head * total * size;
        if (form_.past_length > 0)
          row = std::copy_n(args.inputs[past].as<const float>() + head * form_.past_length * size,
                            form_.past_length * size, row);
        for (std::int64_t j = 0; j < form_.kv_length; ++j)
          row = std::copy_n(now + b * from.batch + h * from.head + j * from.position, size, row);
      }
    at = strides(false, form_.kv_heads, total, size);
    return to;
  }

  const key_range* find_ranges(const kernel_args& args, key_range* ranges) const {
    const auto total = form_.total_length();
    for (std::int64_t b = 0; b < form_.batch; ++b) {
      const bool given = has_data(args, lengths_input);
      const auto valid = given ? args.inputs[lengths_input].as<const std::int64_t>()[b] : total;
      const auto offset = given ? valid - form_.q_length : form_.past_length;
      for (std::int64_t i = 0; i < form_.q_length; ++i) {
        const auto seen = form_.keys_of(i, offset, valid);
        const auto first = std::min(seen.first, total);
        ranges[b * form_.q_length + i] = {
            static_cast<std::int32_t>(first),
            static_cast<std::int32_t>(std::clamp(seen.last, first, total))};
      }
    }
    return ranges;
  }

  attention_form form_;
  int threads_;
  problem problem_;
  bool has_ranges_;
};

} // namespace

made_kernel make_blocked_attention(const kernel_spec& spec, weight_cache&) {
  for (std::size_t i = 0; i < std::min<std::size_t>(spec.inputs.size(), lengths_input); ++i)
    if (spec.inputs[i].present && spec.inputs[i].desc.type != dtype::float32
        && !(i == mask_input && spec.inputs[i].desc.type == dtype::boolean))
      return decline("input {} is {}, not FP32", i, to_string(spec.inputs[i].desc.type));
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (has_output(spec, 3))
    return decline("the scores are asked for");
  auto form = attention_form_of(spec);
  if (!form)
    return tl::unexpected{std::move(form).error()};
  if (form->total_length() > std::numeric_limits<std::int32_t>::max())
    return decline("{} keys", form->total_length());
  const blocked_attention with{*std::move(form), has_input(spec, lengths_input), spec.threads};
  return make_kernel({.name = "blocks", .workspace_bytes = with.workspace_bytes()},
                     [with](const kernel_args& args) { return with.run(args); });
}

} // namespace troupe::cpu
