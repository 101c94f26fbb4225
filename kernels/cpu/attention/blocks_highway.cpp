#include "kernels/cpu/attention/blocks.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/blocks_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/elementwise/math-inl.h"
#include "kernels/cpu/matmul/tile-inl.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace attention_blocks;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

constexpr std::int64_t key_chunk = 1024; // keys whose values stay in the second-level cache
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

std::int64_t lanes_here() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

// Products. ------------------------------------------------------------------------------------

/// `first` says that nothing stands in `out` yet.
template <int Rows, int Width>
HWY_NOINLINE void tile(const tile_sides& of, float* out, std::int64_t out_stride, bool first) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  multiply_tile<Rows, Width>(
      of, [](std::int64_t) HWY_ATTR {},
      [&](vector(&sums)[Rows][Width]) HWY_ATTR {
        HWY_UNROLL(12)
        for (int r = 0; r < Rows; ++r) {
          HWY_UNROLL(4)
          for (int c = 0; c < Width; ++c) {
            float* to = out + r * out_stride + c * lanes;
            hn::StoreU(first ? sums[r][c] : hn::Add(sums[r][c], hn::LoadU(d, to)), d, to);
          }
        }
      });
}

using tile_function = void (*)(const tile_sides&, float*, std::int64_t, bool);
constexpr std::size_t most_rows = 12;

template <int Width, std::size_t... Rows>
constexpr std::array<tile_function, most_rows + 1> tiles_of(std::index_sequence<Rows...>) {
  std::array<tile_function, most_rows + 1> made{};
  ((made[Rows + 1] = &tile<static_cast<int>(Rows + 1), Width>), ...);
  return made;
}

template <std::size_t... Widths>
constexpr auto all_tiles(std::index_sequence<Widths...>) {
  return std::array{tiles_of<static_cast<int>(Widths + 1)>(
      std::make_index_sequence<static_cast<std::size_t>(tile_rows[Widths])>{})...};
}

constexpr auto tiles = all_tiles(std::make_index_sequence<widest_tile>{});

// The product of any number of rows with a panel of `vectors`, in tiles of about the same height.
void multiply(std::int64_t rows, const tile_sides& of, std::int64_t vectors, float* out,
              std::int64_t out_stride, bool first) {
  const auto& functions = tiles[static_cast<std::size_t>(vectors - 1)];
  const auto count = (rows + tile_rows[vectors - 1] - 1) / tile_rows[vectors - 1];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = rows * i / count;
    auto part = of;
    part.left += row * of.left_stride;
    functions[static_cast<std::size_t>(rows * (i + 1) / count - row)](part, out + row * out_stride,
                                                                      out_stride, first);
  }
}

/// Calls `use(first, vectors)` for panels of about the same width that cover `columns`.
template <class Use>
void for_each_panel(std::int64_t columns, const Use& use) {
  const auto lanes = lanes_here();
  const auto vectors = (columns + lanes - 1) / lanes;
  const auto panels = (vectors + widest_tile - 1) / widest_tile;
  for (std::int64_t i = 0; i < panels; ++i) {
    const auto first = vectors * i / panels;
    use(first * lanes, vectors * (i + 1) / panels - first);
  }
}

// Packing. -------------------------------------------------------------------------------------

// Four keys next to each other in the rows of a panel `width` wide; element i of one is in row i.
HWY_INLINE std::int64_t turn_four(const float* from, std::int64_t position, std::int64_t size,
                                  float* to, std::int64_t width) {
#if HWY_TARGET == HWY_SCALAR
  (void)from, (void)position, (void)size, (void)to, (void)width;
  return 0;
#else
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  std::int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    const auto a = hn::LoadU(d, from + i);
    const auto b = hn::LoadU(d, from + position + i);
    const auto c = hn::LoadU(d, from + 2 * position + i);
    const auto e = hn::LoadU(d, from + 3 * position + i);
    const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    float* row = to + i * width;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, row + width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, row + 2 * width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, row + 3 * width);
  }
  return i;
#endif
}

// Keys become the columns of panels; columns behind the last key are zeros.
void pack_keys(const problem& of, const float* from, float* to) {
  for_each_panel(of.keys, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
    const auto width = vectors * lanes_here();
    const auto count = std::min(width, of.keys - first);
    const float* keys = from + first * of.k.position;
    std::int64_t j = 0;
    for (; of.k.element == 1 && j + 4 <= count; j += 4) {
      const float* four = keys + j * of.k.position;
      for (auto i = turn_four(four, of.k.position, of.size, to + j, width); i < of.size; ++i)
        for (std::int64_t c = 0; c < 4; ++c)
          to[i * width + j + c] = four[c * of.k.position + i];
    }
    for (std::int64_t i = 0; i < of.size; ++i) {
      float* row = to + i * width;
      const float* element = keys + i * of.k.element;
      if (of.k.position == 1)
        std::memcpy(row + j, element + j, static_cast<std::size_t>(count - j) * sizeof(float));
      else
        for (auto c = j; c < count; ++c)
          row[c] = element[c * of.k.position];
      std::fill(row + count, row + width, 0.0F);
    }
    to += of.size * width;
  });
}

// Values become the rows of panels.
void pack_values(const problem& of, const float* from, float* to) {
  for_each_panel(of.value_size, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
    const tag d;
    const auto lanes = lanes_here();
    const auto width = vectors * lanes;
    const auto count = std::min(width, of.value_size - first);
    for (std::int64_t j = 0; j < of.keys; ++j, to += width) {
      const float* row = from + j * of.v.position + first;
      std::int64_t c = 0;
      for (; c + lanes <= count; c += lanes)
        hn::Store(hn::LoadU(d, row + c), d, to + c);
      for (; c < width; ++c)
        to[c] = c < count ? row[c] : 0.0F;
    }
  });
}

// Softmax. -------------------------------------------------------------------------------------

// 2^t for t <= 0, good to 1e-7; 0 below -126.5, NaN for NaN. The polynomial is a least-squares fit
// of 2^r on [-1/2, 1/2], reweighted until the relative error, 2e-9, levels out.
HWY_INLINE vector power_of_two(tag d, vector t) {
  const auto least = hn::Set(d, -127.0F);
  t = hn::IfThenElse(hn::Lt(t, least), least, t);
  // Adding this leaves the nearest integer, and the exponent's bias, in the lowest bits.
  const auto shift = hn::Set(d, 12583039.0F); // 1.5 * 2^23 + 127
  const auto shifted = hn::Add(t, shift);
  const auto r = hn::Sub(t, hn::Sub(shifted, shift));
  auto p = hn::Set(d, 0.0001534581242594868F);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013399930903688073F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.009618489071726799F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05550328642129898F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.24022646248340607F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931471824645996F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const hn::RebindToSigned<tag> bits;
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

template <class Change>
HWY_INLINE void change_row(float* row, std::int64_t count, const Change& change) {
  const tag d;
  const auto lanes = lanes_here();
  for (std::int64_t j = 0; j < count; j += lanes) // a row has room for a whole number of vectors
    hn::StoreU(change(hn::LoadU(d, row + j), j), d, row + j);
}

// Reads `count` numbers of what a score step has for a row into vectors' worth of floats.
constexpr std::int64_t gathered = 64;

template <class T>
HWY_INLINE void gather(const T* from, std::int64_t stride, std::int64_t count, float* to) {
  for (std::int64_t j = 0; j < gathered; ++j)
    to[j] = j < count ? static_cast<float>(from[j * stride]) : 0.0F;
}

// row = step(row) for the first `count` scores of a query; its operand starts at `start`.
void apply_step(const score_step& step, const void* operand, std::int64_t start, std::int64_t count,
                float* row) {
  const tag d;
  const auto stride = step.strides[3];
  const bool adds = step.what == score_step::kind::add;
  const bool keeps_true = step.what == score_step::kind::keep_where;
  const auto otherwise = hn::Set(d, step.otherwise);
  const auto* numbers = static_cast<const float*>(operand) + (adds ? start : 0);
  const auto* truths = static_cast<const std::uint8_t*>(operand) + (adds ? 0 : start);
  const auto present = step.keys < 0 ? count : std::min(step.keys, count);
  const auto lanes = lanes_here();
  std::int64_t j = 0;
  if (adds && stride == 1)
    for (; j + lanes <= present; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, numbers + j)), d, row + j);
  HWY_ALIGN float part[gathered];
  for (; j < present; j += gathered) {
    const auto left = std::min(gathered, present - j);
    if (adds)
      gather(numbers + j * stride, stride, left, part);
    else
      gather(truths + j * stride, stride, left, part);
    change_row(row + j, left, [&](vector score, std::int64_t c) HWY_ATTR {
      const auto found = hn::Load(d, part + c);
      if (adds)
        return hn::Add(score, found);
      const auto is_true = hn::Ne(found, hn::Zero(d));
      return keeps_true ? hn::IfThenElse(is_true, score, otherwise)
                        : hn::IfThenElse(is_true, otherwise, score);
    });
  }
  std::fill(row + present, row + count, minus_infinity);
}

// The scores of a query become what the softmax takes, beyond the last key -inf.
void take_steps(const problem& of, const tensors& with, const std::array<std::int64_t, 3>& at,
                std::int64_t keys, float* row) {
  const tag d;
  const auto by = hn::Set(d, of.scale);
  change_row(row, keys, [&](vector x, std::int64_t) HWY_ATTR { return hn::Mul(x, by); });
  if (of.softcap != 0) {
    const auto cap = hn::Set(d, of.softcap);
    const auto inverse = hn::Set(d, 1.0F / of.softcap);
    change_row(row, keys, [&](vector x, std::int64_t) HWY_ATTR {
      return hn::Mul(cap, tanh(d, hn::Mul(x, inverse)));
    });
  }
  for (std::size_t i = 0; i < of.step_count; ++i) {
    std::int64_t start = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      start += at[axis] * of.steps[i].strides[axis];
    apply_step(of.steps[i], with.steps[i], start, keys, row);
  }
}

HWY_INLINE vector highest_of(const float* row, std::int64_t filled) {
  const tag d;
  const auto lanes = lanes_here();
  auto most = hn::Set(d, minus_infinity);
  for (std::int64_t j = 0; j < filled; j += lanes)
    most = hn::Max(most, hn::LoadU(d, row + j));
  return hn::MaxOfLanes(d, most);
}

// row = scale row + added, the usual kind of mask; answers the largest of the whole vectors.
HWY_INLINE vector add_to_row(float* row, std::int64_t whole, float scale, const float* added) {
  const tag d;
  const auto lanes = lanes_here();
  const auto by = hn::Set(d, scale);
  auto most = hn::Set(d, minus_infinity);
  for (std::int64_t j = 0; j < whole; j += lanes) {
    const auto x = hn::MulAdd(hn::LoadU(d, row + j), by, hn::LoadU(d, added + j));
    hn::StoreU(x, d, row + j);
    most = hn::Max(most, x);
  }
  return most;
}

// Scores become weights, exp(scale (x - most)); answers the inverse of their sum.
HWY_INLINE vector weigh(float* row, std::int64_t filled, float scale, vector most) {
  const tag d;
  const auto lanes = lanes_here();
  const auto by = hn::Set(d, scale * 1.44269504F); // exp(x) = 2^(x / ln 2)
  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < filled; j += lanes) {
    const auto weight = power_of_two(d, hn::Mul(hn::Sub(hn::LoadU(d, row + j), most), by));
    sum = hn::Add(sum, weight);
    hn::StoreU(weight, d, row + j);
  }
  return hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, sum));
}

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
