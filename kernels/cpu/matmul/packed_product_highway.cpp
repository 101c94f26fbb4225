#include "kernels/cpu/matmul/packed_product.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul/packed_product_highway.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"
#include "kernels/cpu/matmul/tile-inl.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace packed_product;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR
constexpr panel_vectors best{2, 2};
#else
constexpr panel_vectors best{4, 3};
#endif
constexpr std::int64_t line_floats = 16;

/// What will be needed soon: a hardware prefetcher sees short runs only, and none across pages.
struct upcoming {
  const float* left = nullptr; ///< `lines` of what is read next on the left side
  std::int64_t lines = 0;
  const float* right = nullptr; ///< on the right side, a place `right_step` floats on for each k
  std::int64_t right_step = 0;
};

/// Where a tile's results go.
struct destination {
  float* out = nullptr;
  std::int64_t stride = 0;
  const float* bias = nullptr;     ///< one for each column; may be null
  const float* residual = nullptr; ///< lies as `out` does, or there; may be null
};

/// Rows x Width vectors: out = left * panel + bias + residual.
struct finished_tiles {
  template <int Rows, int Width>
  static HWY_NOINLINE void tile(const tile_sides& of, const destination& to, const upcoming& next) {
    const tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < Width; ++c)
        hwy::Prefetch(to.out + r * to.stride + c * lanes);
    for (std::int64_t line = 0; line < next.lines; ++line)
      hwy::Prefetch(next.left + line * line_floats);
    multiply_tile<Rows, Width>(
        of, [&](std::int64_t k) HWY_ATTR { hwy::Prefetch(next.right + k * next.right_step); },
        [&](vector(&sums)[Rows][Width]) HWY_ATTR {
          HWY_UNROLL(4)
          for (int c = 0; c < Width; ++c) {
            const auto bias = to.bias != nullptr ? hn::LoadU(d, to.bias + c * lanes) : hn::Zero(d);
            HWY_UNROLL(12)
            for (int r = 0; r < Rows; ++r)
              sums[r][c] = hn::Add(sums[r][c], bias);
          }
          HWY_UNROLL(12)
          for (int r = 0; r < Rows; ++r) {
            HWY_UNROLL(4)
            for (int c = 0; c < Width; ++c) {
              const auto at = r * to.stride + c * lanes;
              if (to.residual != nullptr)
                sums[r][c] = hn::Add(sums[r][c], hn::LoadU(d, to.residual + at));
              hn::StoreU(sums[r][c], d, to.out + at);
            }
          }
        });
  }
};

// The same for any number of rows.
void multiply(std::int64_t rows, const tile_sides& of, std::int64_t vectors, const destination& to,
              const upcoming& next) {
  const auto& functions = tiles<finished_tiles>[static_cast<std::size_t>(vectors - 1)];
  for_each_tile(rows, vectors,
                [&](std::int64_t i, std::int64_t count, std::int64_t first, std::int64_t height)
                    HWY_ATTR {
                      auto sides = of;
                      sides.left += first * of.left_stride;
                      auto part = to;
                      part.out += first * to.stride;
                      if (to.residual != nullptr)
                        part.residual += first * to.stride;
                      auto soon = next;
                      soon.left += next.lines * i / count * line_floats;
                      soon.lines = next.lines * (i + 1) / count - next.lines * i / count;
                      soon.right += i * of.inner * next.right_step;
                      functions[static_cast<std::size_t>(height)](sides, part, soon);
                    });
}

/// A block of results that lies in scratch and belongs at (row, column) of the output.
struct block {
  std::int64_t row, rows;
  std::int64_t column, vectors;
};

// The columns of a vector that reaches beyond the last one.
template <class Value>
HWY_INLINE void finish_part(const product& of, const tensors& with, std::int64_t to,
                            std::int64_t columns, Value value) {
  const tag d;
  HWY_ALIGN float part[fused_steps::limit][hn::MaxLanes(tag{})] = {};
  auto operands = with.operands;
  const auto bytes = static_cast<std::size_t>(columns) * sizeof(float);
  for (std::size_t step = 0; step < of.fused.count; ++step)
    if (operands[step] != nullptr) {
      std::memcpy(part[step], operands[step] + to, bytes);
      operands[step] = part[step];
    }
  vector one[1] = {value};
  apply_steps(d, of.fused, operands, 0, 0, one);
  hn::Store(one[0], d, part[0]);
  std::memcpy(with.out + to, part[0], bytes);
}

// Adds the bias, applies the steps and writes; `value(row, vector)` is the product.
template <class Value>
HWY_INLINE void finish(const product& of, const tensors& with, const block& at,
                       const Value& value) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr int together = 8;
  for (std::int64_t v = 0; v < at.vectors; ++v) {
    const auto column = at.column + v * lanes;
    const auto left = of.right.columns - column;
    if (left < lanes) {
      HWY_ALIGN float part[hn::MaxLanes(tag{})] = {};
      if (with.bias != nullptr)
        std::memcpy(part, with.bias + column, static_cast<std::size_t>(left) * sizeof(float));
      const auto bias = hn::Load(d, part);
      for (std::int64_t r = 0; r < at.rows; ++r)
        finish_part(of, with, (at.row + r) * of.out_stride + column, left,
                    hn::Add(value(r, v), bias));
      return;
    }
    const auto bias = with.bias != nullptr ? hn::LoadU(d, with.bias + column) : hn::Zero(d);
    std::int64_t r = 0;
    for (; r + together <= at.rows; r += together) {
      const auto to = (at.row + r) * of.out_stride + column;
      vector values[together];
      HWY_UNROLL(8)
      for (int i = 0; i < together; ++i)
        values[i] = hn::Add(value(r + i, v), bias);
      apply_steps(d, of.fused, with.operands, to, of.out_stride, values);
      HWY_UNROLL(8)
      for (int i = 0; i < together; ++i)
        hn::StoreU(values[i], d, with.out + to + i * of.out_stride);
    }
    for (; r < at.rows; ++r) {
      const auto to = (at.row + r) * of.out_stride + column;
      vector one[1] = {hn::Add(value(r, v), bias)};
      apply_steps(d, of.fused, with.operands, to, 0, one);
      hn::StoreU(one[0], d, with.out + to);
    }
  }
}

// A range of panels whose share of the right side stays in the second-level cache.
constexpr std::int64_t cached_floats = 96 * 1024;

template <class Use>
void for_each_cached(const std::vector<panel>& panels, std::size_t first, std::size_t last,
                     std::int64_t floats_per_vector, const Use& use) {
  while (first < last) {
    auto end = first;
    std::int64_t floats = 0;
    do
      floats += panels[end++].vectors * floats_per_vector;
    while (end < last && floats + panels[end].vectors * floats_per_vector <= cached_floats);
    use(first, end);
    first = end;
  }
}

struct range {
  std::int64_t begin, end;
};

// How steps are applied to results that are written.
enum class ending : std::uint8_t {
  in_tile,  ///< there are none but a residual
  in_place, ///< results are written, and changed where they are
  apart,    ///< results are kept apart until all that the steps read has been read
};

ending ending_of(const product& of) {
  const auto adds = [](const post_op& step) { return step.kind == post_op_kind::add; };
  const std::span steps{of.fused.steps.data(), of.fused.count};
  const auto rest = steps.empty() || !adds(steps.front()) ? steps : steps.subspan(1);
  if (rest.empty())
    return ending::in_tile;
  return std::ranges::none_of(rest, adds) ? ending::in_place : ending::apart;
}

class panel_worker {
public:
  panel_worker(const product& of, const tensors& with, float* scratch)
      : of_{of}, with_{with}, scratch_{scratch}, ends_{ending_of(of)}, in_place_{of},
        in_place_with_{with} {
    const bool adds = of.fused.count > 0 && of.fused.steps[0].kind == post_op_kind::add;
    residual_ = adds ? with.operands[0] : nullptr;
    in_place_with_.bias = nullptr;
    in_place_with_.operands = {};
    if (adds && ends_ == ending::in_place) {
      auto& steps = in_place_.fused;
      std::copy_n(of.fused.steps.begin() + 1, steps.count - 1, steps.steps.begin());
      --steps.count;
    }
  }

  void run(range rows, range panels) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag{}));
    const auto begin = static_cast<std::size_t>(panels.begin);
    const auto group = group_rows_for(of_.right.inner);
    for_each_cached(
        of_.right.panels, begin, static_cast<std::size_t>(panels.end), of_.right.inner * lanes,
        [&](std::size_t first, std::size_t last) HWY_ATTR {
          for (auto row = rows.begin; row < rows.end; row += group) {
            const auto count = std::min(group, rows.end - row);
            // The first range of panels reads the next rows for the first time: a share each.
            const auto after = std::min(group, rows.end - row - count);
            const auto lines = first == begin ? after * of_.left_stride / line_floats : 0;
            const auto share = lines / static_cast<std::int64_t>(last - first);
            const float* left = with_.left + (row + count) * of_.left_stride;
            for (auto index = first; index < last; ++index, left += share * line_floats)
              meet(row, count, of_.right.panels[index], {left, share}, row == rows.begin);
          }
        });
  }

private:
  // Rows [row, row + count) meet a panel, few at a time: what is done to their results in place
  // finds them in the cache. The panel that follows the first one met is not in the cache yet.
  void meet(std::int64_t row, std::int64_t count, const panel& part, upcoming next,
            bool first) const {
    const auto inner = of_.right.inner;
    const auto width = part.vectors * static_cast<std::int64_t>(hn::Lanes(tag{}));
    const auto high = tile_rows[part.vectors - 1];
    const float* right = with_.right + part.first * inner;
    const auto lines = next.lines;
    next.right = right;
    if (first) {
      next.right += width * inner;
      next.right_step = width / ((count + high - 1) / high);
    }
    for (std::int64_t done = 0; done < count; done += least_rows) {
      const auto some = std::min(least_rows, count - done);
      next.lines = lines * (done + some) / count - lines * done / count;
      meet({row + done, some, part.first, part.vectors},
           {nullptr, of_.left_stride, right, width, inner}, next);
      next.left += next.lines * line_floats;
      next.right += least_rows / high * inner * next.right_step;
    }
  }

  void meet(const block& at, tile_sides sides, const upcoming& next) const {
    const tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto place = at.row * of_.out_stride + at.column;
    sides.left = with_.left + at.row * of_.left_stride;
    if (ends_ == ending::apart || at.column + sides.right_stride > of_.right.columns) {
      multiply(at.rows, sides, at.vectors, {scratch_, sides.right_stride}, next);
      finish(of_, with_, at, [&](std::int64_t r, std::int64_t v) HWY_ATTR {
        return hn::Load(d, scratch_ + r * sides.right_stride + v * lanes);
      });
      return;
    }
    multiply(at.rows, sides, at.vectors,
             {with_.out + place, of_.out_stride,
              with_.bias != nullptr ? with_.bias + at.column : nullptr,
              residual_ != nullptr ? residual_ + place : nullptr},
             next);
    if (ends_ == ending::in_place)
      finish(in_place_, in_place_with_, at, [&](std::int64_t r, std::int64_t v) HWY_ATTR {
        return hn::LoadU(d, with_.out + place + r * of_.out_stride + v * lanes);
      });
  }

  const product& of_;
  const tensors& with_;
  float* scratch_;
  ending ends_;
  const float* residual_; ///< that tiles add
  product in_place_;      ///< what is left to do in place
  tensors in_place_with_;
};

std::int64_t lanes_of_target() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

panel_vectors best_of_target() {
  return best;
}

void run_member(const product& of, const tensors& with, std::int64_t member, std::int64_t members,
                float* workspace) {
  const auto panels = static_cast<std::int64_t>(of.right.panels.size());
  // Shared out is what more memory would be read of, if there is enough of it.
  const bool few_rows = of.rows < 2 * least_rows * members;
  const bool even = panels % members == 0 || panels >= 8 * members;
  const bool by_columns = panels >= members && (few_rows || (even && of.right.columns > of.rows));
  const range all_rows{0, of.rows};
  const range all_panels{0, panels};
  const auto share = [&](range of_all) {
    return range{of_all.end * member / members, of_all.end * (member + 1) / members};
  };
  panel_worker{of, with, workspace}.run(by_columns ? all_rows : share(all_rows),
                                        by_columns ? share(all_panels) : all_panels);
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::packed_product {
namespace {
HWY_EXPORT(lanes_of_target);
HWY_EXPORT(best_of_target);
HWY_EXPORT(run_member);
} // namespace

std::int64_t vector_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes_of_target)();
}

panel_vectors best_vectors() {
  return HWY_DYNAMIC_DISPATCH(best_of_target)();
}

void run(const product& of, const tensors& with, std::int64_t member, std::int64_t members,
         float* workspace) {
  HWY_DYNAMIC_DISPATCH(run_member)(of, with, member, members, workspace);
}

} // namespace troupe::cpu::packed_product
#endif
