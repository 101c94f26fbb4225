#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::cpu {

/// What a node of ONNX's Attention says. Heads lie apart ([batch, heads, length, size]) or together
/// ([batch, length, heads * size]); the offsets below hide which.
struct attention_form {
  std::int64_t batch = 0;
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t q_length = 0;
  std::int64_t kv_length = 0; ///< of K and V alone
  std::int64_t past_length = 0;
  std::int64_t head_size = 0;
  std::int64_t v_head_size = 0;
  bool together = false;
  double scale = 1;
  double softcap = 0;
  bool causal = false;
  std::int64_t left_window = -1;  ///< -1: open
  std::int64_t right_window = -1; ///< -1: open
  std::int64_t qk_output_mode = 0;
  shape mask;         ///< dims of the mask, broadcast from the last
  shape mask_strides; ///< along batch, heads, queries, keys; empty without a mask
  bool mask_is_bool = false;

  [[nodiscard]] std::int64_t total_length() const noexcept { return past_length + kv_length; }

  /// First element of a head's row.
  [[nodiscard]] std::int64_t q_at(std::int64_t b, std::int64_t head,
                                  std::int64_t i) const noexcept {
    return at(b, head, i, q_heads, q_length, head_size);
  }
  [[nodiscard]] std::int64_t k_at(std::int64_t b, std::int64_t head,
                                  std::int64_t j) const noexcept {
    return at(b, head, j, kv_heads, kv_length, head_size);
  }
  [[nodiscard]] std::int64_t v_at(std::int64_t b, std::int64_t head,
                                  std::int64_t j) const noexcept {
    return at(b, head, j, kv_heads, kv_length, v_head_size);
  }
  [[nodiscard]] std::int64_t y_at(std::int64_t b, std::int64_t head,
                                  std::int64_t i) const noexcept {
    return at(b, head, i, q_heads, q_length, v_head_size);
  }

  /// Keys [first, last) that the causal frontier, the window and the padding leave query `i`, of
  /// which `offset` keys came before the first query.
  struct key_range {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  [[nodiscard]] key_range keys_of(std::int64_t i, std::int64_t offset,
                                  std::int64_t valid) const noexcept;

private:
  [[nodiscard]] std::int64_t at(std::int64_t b, std::int64_t head, std::int64_t i,
                                std::int64_t heads, std::int64_t length,
                                std::int64_t size) const noexcept {
    return together ? ((b * length + i) * heads + head) * size
                    : ((b * heads + head) * length + i) * size;
  }
};

/// ONNX: Attention-23, -24, -25. The reason when shapes or attributes do not fit.
[[nodiscard]] tl::expected<attention_form, std::string> attention_form_of(const kernel_spec& spec);

} // namespace troupe::cpu
