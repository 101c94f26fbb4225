// Attention in FP32, a head of a sequence at a time: two matrix products of oneDNN's around a pass
// over the rows of the scores. Heads are shared among the thread team.

#include "kernels/cpu/attention/form.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/rows/rows.hpp"
#include "kernels/cpu/spec.hpp"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cpu {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// Rows of a matrix that lie `stride` floats apart.
struct matrix {
  float* data = nullptr;
  std::int64_t stride = 0;
};

class head_products {
public:
  head_products(attention_form form, int threads)
      : form_{std::move(form)}, threads_{threads}, shares_{std::clamp<std::int64_t>(
                                                       form_.batch * form_.q_heads, 1, threads)} {}

  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(shares_ * score_count() + present_count(form_.head_size)
                                    + present_count(form_.v_head_size))
           * sizeof(float);
  }

  result<void> run(const kernel_args& args) const {
    for (std::int64_t b = 0; has_data(args, 6) && b < form_.batch; ++b)
      if (const auto length = args.inputs[6].as<const std::int64_t>()[b];
          length < 0 || length > form_.total_length())
        return fail(errc::invalid_argument, "lengths in [0, {}] expected, {} found",
                    form_.total_length(), length);
    auto* room = reinterpret_cast<float*>(args.workspace.data()) + shares_ * score_count();
    float* keys = gather(args, 1, 4, 1, form_.head_size, room);
    float* values = gather(args, 2, 5, 2, form_.v_head_size, room + present_count(form_.head_size));
    const auto items = form_.batch * form_.q_heads;
    parallel_for(
        threads_, shares_, items * score_count(), [&](std::int64_t begin, std::int64_t end) {
          for (auto share = begin; share < end; ++share)
            for (auto item = items * share / shares_; item < items * (share + 1) / shares_; ++item)
              head(args, item / form_.q_heads, item % form_.q_heads, keys, values,
                   reinterpret_cast<float*>(args.workspace.data()) + share * score_count());
        });
    return {};
  }

private:
  std::int64_t score_count() const { return form_.q_length * form_.total_length(); }
  std::int64_t present_count(std::int64_t size) const {
    return form_.past_length == 0 ? 0 : form_.batch * form_.kv_heads * form_.total_length() * size;
  }

  // Past and present in one tensor [batch, heads, length, size]: the output, or the workspace where
  // nobody asked for it; null where the input can be read as it is.
  float* gather(const kernel_args& args, std::size_t now, std::size_t past, std::size_t output,
                std::int64_t size, float* room) const {
    const bool wanted = output < args.outputs.size() && args.outputs[output].data != nullptr;
    if (!wanted && form_.past_length == 0)
      return nullptr;
    float* to = wanted ? args.outputs[output].as<float>() : room;
    const auto* from = args.inputs[now].as<const float>();
    for (std::int64_t at = 0; at < form_.batch * form_.kv_heads; ++at) {
      float* row = to + at * form_.total_length() * size;
      if (form_.past_length > 0)
        row = std::copy_n(args.inputs[past].as<const float>() + at * form_.past_length * size,
                          form_.past_length * size, row);
      for (std::int64_t j = 0; j < form_.kv_length; ++j)
        row =
            std::copy_n(from + now_at(now, at / form_.kv_heads, at % form_.kv_heads, j), size, row);
    }
    return to;
  }

  std::int64_t now_at(std::size_t input, std::int64_t b, std::int64_t kv_head,
                      std::int64_t j) const {
    return input == 1 ? form_.k_at(b, kv_head, j) : form_.v_at(b, kv_head, j);
  }

  // Where the rows of a head lie: in what `gather` made, or in the input.
  matrix rows_of(const kernel_args& args, std::size_t input, float* gathered, std::int64_t b,
                 std::int64_t kv_head, std::int64_t size) const {
    if (gathered != nullptr)
      return {gathered + (b * form_.kv_heads + kv_head) * form_.total_length() * size, size};
    return {args.inputs[input].as<float>() + now_at(input, b, kv_head, 0),
            form_.together ? form_.kv_heads * size : size};
  }

  void head(const kernel_args& args, std::int64_t b, std::int64_t q_head, float* keys,
            float* values, float* scores) const {
    const auto kv_head = q_head / (form_.q_heads / form_.kv_heads);
    const auto total = form_.total_length();
    const auto k = rows_of(args, 1, keys, b, kv_head, form_.head_size);
    const auto v = rows_of(args, 2, values, b, kv_head, form_.v_head_size);
    const auto heads = form_.together ? form_.q_heads : 1;
    (void)dnnl_sgemm('N', 'T', form_.q_length, total, form_.head_size,
                     static_cast<float>(form_.scale),
                     args.inputs[0].as<const float>() + form_.q_at(b, q_head, 0),
                     heads * form_.head_size, k.data, k.stride, 0.0F, scores, total);
    for (std::int64_t i = 0; i < form_.q_length; ++i)
      weigh(args, b, q_head, i, scores + i * total);
    (void)dnnl_sgemm('N', 'N', form_.q_length, form_.v_head_size, total, 1.0F, scores, total,
                     v.data, v.stride, 0.0F, args.outputs[0].as<float>() + form_.y_at(b, q_head, 0),
                     heads * form_.v_head_size);
  }

  // A row of scores to the weights of the values.
  void weigh(const kernel_args& args, std::int64_t b, std::int64_t q_head, std::int64_t i,
             float* row) const {
    const auto total = form_.total_length();
    const auto valid = has_data(args, 6) ? args.inputs[6].as<const std::int64_t>()[b] : total;
    const auto offset = has_data(args, 6) ? valid - form_.q_length : form_.past_length;
    auto seen = form_.keys_of(i, offset, valid);
    seen.first = std::min(seen.first, total);
    seen.last = std::clamp(seen.last, seen.first, total);
    if (form_.softcap > 0) {
      const auto cap = static_cast<float>(form_.softcap);
      for (auto j = seen.first; j < seen.last; ++j)
        row[j] = cap * std::tanh(row[j] / cap);
    }
    if (!form_.mask_strides.empty())
      add_mask(args, b, q_head, i, seen, row);
    std::fill(row, row + seen.first, 0.0F);
    std::fill(row + seen.last, row + total, 0.0F);
    const bool open = std::any_of(row + seen.first, row + seen.last,
                                  [](float score) { return score != minus_infinity; });
    if (open)
      softmax_row(row + seen.first, row + seen.first,
                  static_cast<std::size_t>(seen.last - seen.first));
    else // a query that sees no key answers zeros
      std::fill(row + seen.first, row + seen.last, 0.0F);
  }

  void add_mask(const kernel_args& args, std::int64_t b, std::int64_t q_head, std::int64_t i,
                attention_form::key_range seen, float* row) const {
    const auto& strides = form_.mask_strides;
    const auto start = b * strides[0] + q_head * strides[1] + i * strides[2];
    const auto step = strides[3];
    const auto masked = step == 0 ? seen.last : std::min(seen.last, form_.mask[3]);
    if (form_.mask_is_bool) {
      const auto* mask = args.inputs[3].as<const std::uint8_t>() + start;
      for (auto j = seen.first; j < masked; ++j)
        row[j] = mask[j * step] != 0 ? row[j] : minus_infinity;
    } else {
      const auto* mask = args.inputs[3].as<const float>() + start;
      for (auto j = seen.first; j < masked; ++j)
        row[j] += mask[j * step];
    }
    for (auto j = std::max(seen.first, masked); j < seen.last; ++j)
      row[j] = minus_infinity; // a mask that is shorter than the keys
  }

  attention_form form_;
  int threads_;
  std::int64_t shares_; ///< of the heads, each with scores of its own
};

} // namespace

made_kernel make_onednn_attention(const kernel_spec& spec, weight_cache&) {
  for (std::size_t i = 0; i < std::min<std::size_t>(spec.inputs.size(), 6); ++i)
    if (spec.inputs[i].present && spec.inputs[i].desc.type != dtype::float32
        && !(i == 3 && spec.inputs[i].desc.type == dtype::boolean))
      return decline("input {} is {}, not FP32", i, to_string(spec.inputs[i].desc.type));
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (has_output(spec, 3))
    return decline("the scores are asked for");
  auto form = attention_form_of(spec);
  if (!form)
    return tl::unexpected{std::move(form).error()};
  if (form->batch == 0 || form->q_length == 0 || form->total_length() == 0 || form->head_size == 0
      || form->v_head_size == 0)
    return decline("an axis is empty");
  const head_products with{*std::move(form), spec.threads};
  return make_kernel({.name = "onednn:heads", .workspace_bytes = with.workspace_bytes()},
                     [with](const kernel_args& args) { return with.run(args); });
}

} // namespace troupe::cpu
