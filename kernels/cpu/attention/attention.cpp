// Scaled dot product attention, row by row, in double. ONNX: Attention-25 and those before.

#include "kernels/cpu/attention/form.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cpu {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The keys or values of all that came before and now.
struct cache {
  numbers_in past;
  numbers_in now;
  std::int64_t size = 0; ///< of a head

  double element(const attention_form& form, std::int64_t b, std::int64_t head, std::int64_t j,
                 std::int64_t now_at, std::int64_t i) const {
    return j < form.past_length
               ? past[((b * form.kv_heads + head) * form.past_length + j) * size + i]
               : now[now_at + i];
  }
};

class attention {
public:
  attention(const attention_form& form, const kernel_args& args)
      : form_{form}, args_{args}, q_{input_numbers(args, 0)}, mask_{input_numbers(args, 3)},
        keys_{input_numbers(args, 4), input_numbers(args, 1), form.head_size},
        values_{input_numbers(args, 5), input_numbers(args, 2), form.v_head_size},
        y_{output_numbers(args, 0)}, qk_{output_numbers(args, 3)},
        scores_{reinterpret_cast<double*>(args.workspace.data())} {}

  result<void> run() {
    for (std::int64_t b = 0; has_data(args_, 6) && b < form_.batch; ++b)
      if (const auto length = args_.inputs[6].as<const std::int64_t>()[b];
          length < 0 || length > form_.total_length())
        return fail(errc::invalid_argument, "lengths in [0, {}] expected, {} found",
                    form_.total_length(), length);
    copy_present(keys_, 1, &attention_form::k_at);
    copy_present(values_, 2, &attention_form::v_at);
    for (std::int64_t b = 0; b < form_.batch; ++b)
      for (std::int64_t head = 0; head < form_.q_heads; ++head)
        for (std::int64_t i = 0; i < form_.q_length; ++i)
          row(b, head, i);
    return {};
  }

private:
  using offset_function = std::int64_t (attention_form::*)(std::int64_t, std::int64_t,
                                                           std::int64_t) const noexcept;

  double key(std::int64_t b, std::int64_t head, std::int64_t j, std::int64_t i) const {
    return keys_.element(form_, b, head, j, form_.k_at(b, head, j - form_.past_length), i);
  }
  double value(std::int64_t b, std::int64_t head, std::int64_t j, std::int64_t i) const {
    return values_.element(form_, b, head, j, form_.v_at(b, head, j - form_.past_length), i);
  }

  void copy_present(const cache& from, std::size_t output, offset_function now_at) const {
    const auto to = output_numbers(args_, output);
    if (!to)
      return;
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < form_.batch; ++b)
      for (std::int64_t head = 0; head < form_.kv_heads; ++head)
        for (std::int64_t j = 0; j < form_.total_length(); ++j)
          for (std::int64_t i = 0; i < from.size; ++i)
            to.set(at++, from.element(form_, b, head, j,
                                      (form_.*now_at)(b, head, j - form_.past_length), i));
  }

  double bias(std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) const {
    if (!mask_)
      return 0;
    const auto& strides = form_.mask_strides;
    if (strides[3] != 0 && j >= form_.mask[3])
      return minus_infinity; // a mask that is shorter than the keys
    const double found =
        mask_[b * strides[0] + head * strides[1] + i * strides[2] + j * strides[3]];
    return !form_.mask_is_bool ? found : found != 0 ? 0.0 : minus_infinity;
  }

  void row(std::int64_t b, std::int64_t head, std::int64_t i) {
    const auto total = form_.total_length();
    const auto kv_head = head / (form_.q_heads / form_.kv_heads);
    const auto* lengths = has_data(args_, 6) ? args_.inputs[6].as<const std::int64_t>() : nullptr;
    const auto valid = lengths == nullptr ? total : lengths[b];
    const auto offset = lengths == nullptr ? form_.past_length : valid - form_.q_length;
    const auto seen = form_.keys_of(i, offset, valid);
    const auto qk = ((b * form_.q_heads + head) * form_.q_length + i) * total;
    const auto show = [&](std::int64_t mode, std::int64_t j, double score) {
      if (qk_ && form_.qk_output_mode == mode)
        qk_.set(qk + j, score);
    };
    double most = minus_infinity;
    bool masked = true;
    for (std::int64_t j = 0; j < total; ++j) {
      double score = 0;
      for (std::int64_t k = 0; k < form_.head_size; ++k)
        score += q_[form_.q_at(b, head, i) + k] * key(b, kv_head, j, k);
      score *= form_.scale;
      show(0, j, score);
      if (form_.softcap > 0)
        score = form_.softcap * std::tanh(score / form_.softcap);
      show(1, j, score);
      const bool open = j >= seen.first && j < seen.last;
      const double added = open ? bias(b, head, i, j) : minus_infinity;
      masked = masked && added == minus_infinity;
      scores_[j] = score + added;
      show(2, j, scores_[j]);
      most = std::max(most, scores_[j]);
    }
    // A query that sees no key answers zeros.
    double sum = 0;
    for (std::int64_t j = 0; j < total; ++j) {
      scores_[j] = masked ? 0.0 : std::exp(scores_[j] - most);
      sum += scores_[j];
    }
    for (std::int64_t j = 0; j < total; ++j) {
      scores_[j] = sum == 0 ? 0.0 : scores_[j] / sum;
      show(3, j, scores_[j]);
    }
    for (std::int64_t k = 0; k < form_.v_head_size; ++k) {
      double mixed = 0;
      for (std::int64_t j = 0; j < total; ++j)
        mixed += scores_[j] * value(b, kv_head, j, k);
      y_.set(form_.y_at(b, head, i) + k, mixed);
    }
  }

  const attention_form& form_;
  const kernel_args& args_;
  numbers_in q_;
  numbers_in mask_;
  cache keys_;
  cache values_;
  numbers_out y_;
  numbers_out qk_;
  double* scores_;
};

} // namespace

made_kernel make_reference_attention(const kernel_spec& spec, weight_cache&) {
  for (const auto& [first, last] : {std::pair{0, 3}, std::pair{4, 6}})
    if (auto why =
            not_floating(spec, static_cast<std::size_t>(first), static_cast<std::size_t>(last)))
      return decline("{}", *why);
  if (has_input(spec, 3) && spec.inputs[3].desc.type == dtype::string)
    return decline("a mask of numbers or BOOL expected");
  auto form = attention_form_of(spec);
  if (!form)
    return tl::unexpected{std::move(form).error()};
  const auto bytes = static_cast<std::size_t>(form->total_length()) * sizeof(double);
  return make_kernel({.workspace_bytes = bytes},
                     [form = *std::move(form)](const kernel_args& args) {
                       return attention{form, args}.run();
                     });
}

} // namespace troupe::cpu
