#pragma once

// Scaled dot-product attention in FP32, a block of queries at a time: its scores stay in the cache
// between the product with the keys, the softmax and the product with the values.

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe::cpu::attention_blocks {

/// Vectors of heads in memory: steps, in floats, from one batch entry, head, position and element
/// to the next.
struct head_strides {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t position = 0;
  std::int64_t element = 1; ///< 1 but for keys
};

/// What happens to the scaled scores, in order, before the softmax.
struct score_step {
  enum class kind : std::uint8_t {
    add,         ///< a float for each score
    keep_where,  ///< where a BOOL is false the score becomes `otherwise`
    keep_unless, ///< where it is true
  };
  kind what = kind::add;
  float otherwise = 0;
  std::array<std::int64_t, 4> strides{}; ///< along batch, heads, queries and keys; 0: broadcast
  std::int64_t keys = -1; ///< scores of keys behind these become -inf; -1: there are none
};

/// Keys [first, last) that a query sees.
struct key_range {
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct problem {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0; ///< each is read by heads / kv_heads heads
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t size = 0;       ///< of a query and a key
  std::int64_t value_size = 0; ///< of a value
  head_strides q = {}, k = {}, v = {}, out = {};
  float scale = 1;
  float softcap = 0; ///< scaled scores become softcap * tanh(score / softcap), unless 0
  static constexpr std::size_t most_steps = 3;
  std::array<score_step, most_steps> steps = {};
  std::size_t step_count = 0;
  bool zero_if_blind = false; ///< a query whose scores are all -inf gives zeros instead of NaN

  [[nodiscard]] std::int64_t blocks() const noexcept; ///< of the queries of a head
  /// Whether keys and values are read where they are, not packed: so few queries do not pay for it.
  [[nodiscard]] bool in_place() const noexcept { return queries < 3 && k.element == 1; }
  /// Pieces of work, head by head.
  [[nodiscard]] std::int64_t items() const noexcept { return batch * heads * blocks(); }
  /// Floats of workspace for each thread, a multiple of what alignment takes.
  [[nodiscard]] std::int64_t workspace() const noexcept;
  /// Members of a team of `threads` that have something to do.
  [[nodiscard]] std::int64_t members(int threads) const noexcept;
};

struct tensors {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float* out = nullptr;
  std::array<const void*, problem::most_steps> steps{};
  const key_range* ranges = nullptr; ///< by batch entry and query; null: every query sees all keys
};

/// out = softmax(steps(scale q k')) v on a team of `threads`, with `members(threads)` workspaces.
/// The bits of a query's result follow from its own inputs and the sizes of the problem, not from
/// threads. Scores that are NaN or
/// +inf, and queries whose scores are all -inf, give NaN as a softmax does; one without keys zeros.
void run(const problem& of, const tensors& with, int threads, float* workspace);

// For run: what an instruction set decides.

inline constexpr std::int64_t block_rows = 24;

/// The layout of a workspace, in floats.
struct room {
  std::int64_t pitch = 0;       ///< from row to row of the scores
  std::int64_t value_pitch = 0; ///< from row to row of results and values
  std::int64_t keys = 0;        ///< panels of keys, then
  std::int64_t values = 0;      ///< panels of values, then
  std::int64_t scores = 0;      ///< scores, then
  std::int64_t results = 0;     ///< results
};
[[nodiscard]] room room_for(const problem& of) noexcept;

/// Computes items [first, last) of those that `items` counts.
void run_items(const problem& of, const tensors& with, std::int64_t first, std::int64_t last,
               float* workspace);

} // namespace troupe::cpu::attention_blocks
