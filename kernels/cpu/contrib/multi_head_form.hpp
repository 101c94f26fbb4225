#pragma once

#include "kernels/cpu/attention/blocks.hpp"
#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu::multi_head {

/// Inputs of com.microsoft's MultiHeadAttention.
enum input : std::size_t { query, key, value, bias, mask, scores_bias, past_key, past_value };

/// How a mask says which keys count.
enum class mask_kind : std::uint8_t { none, lengths, keys, pairs };

/// What a node of com.microsoft's MultiHeadAttention-1 says.
struct form {
  attention_blocks::problem core;
  int threads = 1;
  std::int64_t new_keys = 0;
  std::int64_t past = 0;
  bool keys_by_head = false; ///< key is [B, N, L, H]
  bool values_by_head = false;
  bool biased = false;
  bool causal = false;
  bool shows_keys = false; ///< all keys are asked for
  bool shows_values = false;
  mask_kind masked = mask_kind::none;
  float masked_score = -10000;

  [[nodiscard]] std::int64_t keys() const { return past + new_keys; }
  /// Whether keys (or values) must be brought together: they are not read where they are.
  [[nodiscard]] bool gathers(bool shown, bool by_head) const {
    return shown || past > 0 || (biased && !by_head);
  }
  [[nodiscard]] std::int64_t marks() const { ///< scores of a batch entry that a mask has
    return masked == mask_kind::none    ? 0
           : masked == mask_kind::pairs ? core.queries * keys()
                                        : keys();
  }
  [[nodiscard]] std::int64_t query_floats() const {
    return core.batch * core.heads * core.queries * core.size;
  }
  [[nodiscard]] std::int64_t key_floats(std::int64_t size) const {
    return core.batch * core.heads * keys() * size;
  }
};

/// The reason when shapes or attributes do not fit.
[[nodiscard]] tl::expected<form, std::string> form_of(const kernel_spec& spec);

} // namespace troupe::cpu::multi_head
