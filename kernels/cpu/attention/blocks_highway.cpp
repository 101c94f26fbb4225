#include "kernels/cpu/attention/blocks.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/blocks_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/attention/panels-inl.hpp"
#include "kernels/cpu/attention/softmax-inl.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::int64_t key_chunk = 1024; // keys whose values stay in the second-level cache

// Few queries: keys and values are read once, where they are. ------------------------------------

void dot_products(const problem& of, const float* query, const float* keys, std::int64_t count,
                  float* scores) {
  const tag d;
  const auto lanes = lanes_here();
  constexpr std::int64_t together = 4;
  const auto whole = of.size / lanes * lanes;
  std::int64_t j = 0;
  const auto some = [&](auto how_many) HWY_ATTR {
    constexpr int number = decltype(how_many)::value;
    const float* from = keys + j * of.k.position;
    vector sums[number];
    for (auto& sum : sums)
      sum = hn::Zero(d);
    for (std::int64_t i = 0; i < whole; i += lanes) {
      const auto element = hn::LoadU(d, query + i);
      HWY_UNROLL(4)
      for (int c = 0; c < number; ++c)
        sums[c] = hn::MulAdd(element, hn::LoadU(d, from + c * of.k.position + i), sums[c]);
    }
    for (int c = 0; c < number; ++c) {
      float sum = hn::GetLane(hn::SumOfLanes(d, sums[c]));
      for (auto i = whole; i < of.size; ++i)
        sum += query[i] * from[c * of.k.position + i];
      scores[j + c] = sum;
    }
    j += number;
  };
  while (j + together <= count)
    some(std::integral_constant<int, together>{});
  while (j < count)
    some(std::integral_constant<int, 1>{});
}

void mix_values(const problem& of, const float* weights, const float* values, std::int64_t keys,
                float* out) {
  const auto lanes = lanes_here();
  const auto whole = of.value_size / lanes * lanes;
  for_each_panel(whole, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
    multiply(1, {weights, 0, values + first, of.v.position, keys}, vectors, out + first, 0, true);
  });
  std::fill(out + whole, out + of.value_size, 0.0F);
  for (std::int64_t j = 0; j < keys && whole < of.value_size; ++j)
    for (auto c = whole; c < of.value_size; ++c)
      out[c] += weights[j] * values[j * of.v.position + c];
}

// A block of queries. ----------------------------------------------------------------------------

class worker {
public:
  worker(const problem& of, const tensors& with, float* workspace)
      : of_{of}, with_{with}, room_{room_for(of)}, keys_{workspace}, values_{keys_ + room_.keys},
        scores_{values_ + room_.values}, results_{scores_ + room_.scores}, direct_{of.in_place()},
        plain_{of.step_count == 0 && of.softcap == 0 && of.scale > 0},
        masks_{of.step_count == 1 && of.softcap == 0 && with.ranges == nullptr
               && of.steps[0].what == score_step::kind::add && of.steps[0].strides[3] == 1
               && of.steps[0].keys < 0} {}

  void run(std::int64_t item) {
    const auto blocks = of_.blocks();
    const auto head = item / blocks;
    const auto b = head / of_.heads;
    const auto h = head % of_.heads;
    const auto kv = h / (of_.heads / of_.kv_heads);
    const auto first = item % blocks * block_rows;
    const auto rows = std::min(block_rows, of_.queries - first);
    const auto seen = seen_by(b, first, rows);
    const float* keys = with_.k + b * of_.k.batch + kv * of_.k.head;
    const float* values = with_.v + b * of_.v.batch + kv * of_.v.head;
    const float* queries = with_.q + b * of_.q.batch + h * of_.q.head + first * of_.q.position;
    if (!direct_ && packed_ != b * of_.kv_heads + kv) {
      pack_keys(of_, keys, keys_);
      pack_values(of_, values, values_);
      packed_ = b * of_.kv_heads + kv;
    }
    if (direct_)
      for (std::int64_t r = 0; r < rows; ++r)
        dot_products(of_, queries + r * of_.q.position, keys, seen, scores_ + r * room_.pitch);
    else
      score(queries, rows, seen);
    vector factors[block_rows];
    take_softmax({b, h, first}, rows, seen, factors);
    if (direct_)
      for (std::int64_t r = 0; r < rows; ++r)
        mix_values(of_, scores_ + r * room_.pitch, values, seen, results_ + r * room_.value_pitch);
    else
      mix(rows, seen);
    finish(rows, factors,
           with_.out + b * of_.out.batch + h * of_.out.head + first * of_.out.position);
  }

private:
  // The keys, from the first on, that any query of the block sees.
  std::int64_t seen_by(std::int64_t b, std::int64_t first, std::int64_t rows) const {
    if (with_.ranges == nullptr)
      return of_.keys;
    std::int64_t last = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      last = std::max<std::int64_t>(last, with_.ranges[b * of_.queries + first + r].last);
    return last;
  }

  void score(const float* queries, std::int64_t rows, std::int64_t seen) {
    const auto lanes = lanes_here();
    for_each_panel(of_.keys, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
      if (first < seen)
        multiply(rows,
                 {queries, of_.q.position, keys_ + first * of_.size, vectors * lanes, of_.size},
                 vectors, scores_ + first, room_.pitch, true);
    });
  }

  // In two sweeps over the rows, so that what one waits for is hidden behind others.
  void take_softmax(const std::array<std::int64_t, 3>& at, std::int64_t rows, std::int64_t keys,
                    vector* factors) {
    const tag d;
    const auto filled = (keys + lanes_here() - 1) / lanes_here() * lanes_here();
    const auto whole = keys / lanes_here() * lanes_here();
    vector most[block_rows];
    for (std::int64_t r = 0; r < rows; ++r) {
      float* row = scores_ + r * room_.pitch;
      const std::array<std::int64_t, 3> of_row{at[0], at[1], at[2] + r};
      if (masks_) {
        const auto& strides = of_.steps[0].strides;
        const auto* added = static_cast<const float*>(with_.steps[0]) + of_row[0] * strides[0]
                            + of_row[1] * strides[1] + of_row[2] * strides[2];
        auto vectors = add_to_row(row, whole, of_.scale, added);
        for (auto j = whole; j < keys; ++j)
          row[j] = row[j] * of_.scale + added[j];
        std::fill(row + keys, row + filled, minus_infinity);
        if (filled > whole)
          vectors = hn::Max(vectors, hn::LoadU(d, row + whole));
        most[r] = hn::MaxOfLanes(d, vectors);
        continue;
      }
      if (!plain_)
        take_steps(of_, with_, of_row, keys, row);
      if (with_.ranges != nullptr) {
        const auto range = with_.ranges[at[0] * of_.queries + of_row[2]];
        std::fill(row, row + range.first, minus_infinity);
        std::fill(row + range.last, row + keys, minus_infinity);
      }
      std::fill(row + keys, row + filled, minus_infinity);
      most[r] = highest_of(row, filled);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      float* row = scores_ + r * room_.pitch;
      if ((of_.zero_if_blind || keys == 0) && hn::GetLane(most[r]) == minus_infinity) {
        std::fill(row, row + filled, 0.0F);
        factors[r] = hn::Zero(d);
      } else {
        factors[r] = weigh(row, filled, plain_ ? of_.scale : 1.0F, most[r]);
      }
    }
  }

  void mix(std::int64_t rows, std::int64_t seen) {
    const auto lanes = lanes_here();
    std::int64_t first_key = 0;
    do {
      const auto count = std::min(key_chunk, seen - first_key);
      for_each_panel(of_.value_size, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
        const auto width = vectors * lanes;
        multiply(rows,
                 {scores_ + first_key, room_.pitch, values_ + first * of_.keys + first_key * width,
                  width, count},
                 vectors, results_ + first, room_.value_pitch, first_key == 0);
      });
      first_key += count;
    } while (first_key < seen);
  }

  void finish(std::int64_t rows, const vector* factors, float* out) const {
    const tag d;
    const auto lanes = lanes_here();
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto by = factors[r];
      const float* from = results_ + r * room_.value_pitch;
      float* to = out + r * of_.out.position;
      std::int64_t c = 0;
      for (; c + lanes <= of_.value_size; c += lanes)
        hn::StoreU(hn::Mul(hn::LoadU(d, from + c), by), d, to + c);
      for (; c < of_.value_size; ++c)
        to[c] = from[c] * hn::GetLane(by);
    }
  }

  const problem& of_;
  const tensors& with_;
  room room_;
  float* keys_;
  float* values_;
  float* scores_;
  float* results_;
  bool direct_;
  bool plain_;               ///< scores need nothing but their scale, which is positive
  bool masks_;               ///< scores need a number added to each, and the scale
  std::int64_t packed_ = -1; // the heads of keys and values that lie in the workspace
};

void work(const problem& of, const tensors& with, std::int64_t first, std::int64_t last,
          float* workspace) {
  worker mine{of, with, workspace};
  for (auto item = first; item < last; ++item)
    mine.run(item);
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::attention_blocks {
namespace {
HWY_EXPORT(work);
} // namespace

void run_items(const problem& of, const tensors& with, std::int64_t first, std::int64_t last,
               float* workspace) {
  HWY_DYNAMIC_DISPATCH(work)(of, with, first, last, workspace);
}

} // namespace troupe::cpu::attention_blocks
#endif
