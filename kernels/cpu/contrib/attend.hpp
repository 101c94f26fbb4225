#pragma once

#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace troupe::cpu {

/// Heads of vectors in memory: where the vector of a batch entry, head and position begins.
template <class T>
struct head_view {
  T* data = nullptr;
  std::int64_t batch = 0; ///< strides, in elements
  std::int64_t head = 0;
  std::int64_t position = 0;

  [[nodiscard]] T* at(std::int64_t b, std::int64_t h, std::int64_t s) const noexcept {
    return data + b * batch + h * head + s * position;
  }
};

/// A dot product in 16 sums, which compilers turn into vectors without reordering a sum.
[[nodiscard]] inline float dot(const float* x, const float* y, std::int64_t count) {
  constexpr std::int64_t lanes = 16;
  std::array<float, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[static_cast<std::size_t>(lane)] += x[i + lane] * y[i + lane];
  float sum = 0;
  for (; i < count; ++i)
    sum += x[i] * y[i];
  for (const auto lane : sums)
    sum += lane;
  return sum;
}

/// Scaled dot-product attention: softmax(scale q k' + bias) v, for each query over a range of keys.
struct attention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0; ///< each is read by heads / kv_heads heads
  std::int64_t queries = 0;
  std::int64_t size = 0;       ///< of queries and keys
  std::int64_t value_size = 0; ///< of values
  float scale = 1;
  float softcap = 0; ///< scores become softcap * tanh(score / softcap), unless 0
  int threads = 1;

  struct key_range {
    std::int64_t first = 0;
    std::int64_t last = 0; ///< one past it
  };

  /// `range(b, i)` says which keys query i of batch entry b sees, `bias(b, h, i, j)` what is added
  /// to its score with key j. A query that sees nothing gives zeros. The maximum so far and the sum
  /// are carried from block to block of keys, so that nothing but a block of scores is stored.
  template <class Range, class Bias>
  void operator()(head_view<const float> q, head_view<const float> k, head_view<const float> v,
                  head_view<float> out, const Range& range, const Bias& bias,
                  std::int64_t most_keys) const {
    parallel_for(threads, batch * heads * queries, most_keys * (size + value_size) / 8,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto row = begin; row < end; ++row) {
                     const auto i = row % queries;
                     const auto h = row / queries % heads;
                     const auto b = row / queries / heads;
                     const auto kv = h / (heads / kv_heads);
                     attend(q.at(b, h, i), k.at(b, kv, 0), k.position, v.at(b, kv, 0), v.position,
                            out.at(b, h, i), range(b, i),
                            [&](std::int64_t j) { return bias(b, h, i, j); });
                   }
                 });
  }

private:
  template <class Bias>
  void attend(const float* q, const float* k, std::int64_t k_step, const float* v,
              std::int64_t v_step, float* out, key_range keys, const Bias& bias) const {
    constexpr std::int64_t block = 128;
    constexpr float nothing = -std::numeric_limits<float>::infinity();
    std::array<float, block> scores;
    float most = nothing;
    float sum = 0;
    std::fill_n(out, value_size, 0.0F);
    for (auto first = keys.first; first < keys.last; first += block) {
      const auto count = std::min(block, keys.last - first);
      float highest = most;
      for (std::int64_t j = 0; j < count; ++j) {
        auto score = scale * dot(q, k + (first + j) * k_step, size);
        if (softcap != 0)
          score = softcap * std::tanh(score / softcap);
        score += bias(first + j);
        scores[static_cast<std::size_t>(j)] = score;
        highest = std::max(highest, score);
      }
      if (highest == nothing)
        continue;
      const float shrink = most == nothing ? 0.0F : std::exp(most - highest);
      most = highest;
      sum *= shrink;
      for (std::int64_t c = 0; c < value_size; ++c)
        out[c] *= shrink;
      for (std::int64_t j = 0; j < count; ++j) {
        const float weight = std::exp(scores[static_cast<std::size_t>(j)] - most);
        sum += weight;
        const auto* row = v + (first + j) * v_step;
        for (std::int64_t c = 0; c < value_size; ++c)
          out[c] += weight * row[c];
      }
    }
    if (sum != 0)
      for (std::int64_t c = 0; c < value_size; ++c)
        out[c] /= sum;
  }
};

} // namespace troupe::cpu
