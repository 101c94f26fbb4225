#include "kernels/cpu/matmul/packed_product.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul/packed_product_highway.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"

#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace packed_product;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

// Accumulators fill the registers beside a row of the panel and one element of the left side.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR
constexpr int widest = 2;
constexpr panel_vectors best{2, 2};
constexpr std::int64_t tile_rows[widest] = {12, 6};
#else
constexpr int widest = 4;
constexpr panel_vectors best{4, 3};
constexpr std::int64_t tile_rows[widest] = {12, 12, 8, 6};
#endif
constexpr int most_rows = 12;
constexpr std::int64_t line_floats = 16;

/// What will be needed soon: a hardware prefetcher sees short runs only. `lines` of what is read
/// next, and the rows that results go to.
struct upcoming {
  const float* left = nullptr;
  std::int64_t lines = 0;
  const float* out = nullptr;
  std::int64_t out_stride = 0;
};

/// Rows x Width vectors: out = left * panel.
template <int Rows, int Width>
HWY_NOINLINE void tile(const float* HWY_RESTRICT left, std::int64_t left_stride,
                       const float* HWY_RESTRICT panel, std::int64_t inner, float* HWY_RESTRICT out,
                       std::int64_t out_stride, const upcoming& next) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (int r = 0; next.out != nullptr && r < Rows; ++r)
    for (int c = 0; c < Width; ++c)
      hwy::Prefetch(next.out + r * next.out_stride + c * lanes);
  for (std::int64_t line = 0; line < next.lines; ++line)
    hwy::Prefetch(next.left + line * line_floats);
  vector sums[Rows][Width];
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      sums[r][c] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < inner; ++k, panel += Width * lanes) {
    vector row[Width];
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      row[c] = hn::LoadU(d, panel + c * lanes);
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) {
      const auto element = hn::Set(d, left[r * left_stride + k]);
      HWY_UNROLL(4)
      for (int c = 0; c < Width; ++c)
        sums[r][c] = hn::MulAdd(element, row[c], sums[r][c]);
    }
  }
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      hn::StoreU(sums[r][c], d, out + r * out_stride + c * lanes);
  }
}

using tile_function = void (*)(const float*, std::int64_t, const float*, std::int64_t, float*,
                               std::int64_t, const upcoming&);

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

constexpr auto tiles = all_tiles(std::make_index_sequence<widest>{});

// out = left * panel for any number of rows, in tiles of about the same height.
void multiply(std::int64_t rows, const float* left, std::int64_t left_stride, const float* panel,
              std::int64_t vectors, std::int64_t inner, float* out, std::int64_t out_stride,
              const upcoming& next) {
  const auto& functions = tiles[static_cast<std::size_t>(vectors - 1)];
  const auto most = tile_rows[vectors - 1];
  const auto count = (rows + most - 1) / most;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto first = rows * i / count;
    const auto height = rows * (i + 1) / count - first;
    upcoming of_tile = next;
    if (next.out != nullptr)
      of_tile.out += first * next.out_stride;
    of_tile.left += next.lines * i / count * line_floats;
    of_tile.lines = next.lines * (i + 1) / count - next.lines * i / count;
    functions[static_cast<std::size_t>(height)](left + first * left_stride, left_stride, panel,
                                                inner, out + first * out_stride, out_stride,
                                                of_tile);
  }
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

void run_panels(const product& of, const tensors& with, range rows, range panels, float* scratch) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto inner = of.right.inner;
  const bool bare = with.bias == nullptr && of.fused.count == 0;
  const auto begin = static_cast<std::size_t>(panels.begin);
  for_each_cached(
      of.right.panels, begin, static_cast<std::size_t>(panels.end), inner * lanes,
      [&](std::size_t first, std::size_t last) HWY_ATTR {
        for (auto row = rows.begin; row < rows.end; row += group_rows) {
          const auto count = std::min(group_rows, rows.end - row);
          const float* left = with.left + row * of.left_stride;
          // The first range of panels reads the next rows for the first time: a share each.
          const auto after = std::min(group_rows, rows.end - row - count);
          const auto lines = first == begin ? after * of.left_stride / line_floats : 0;
          const auto share = lines / static_cast<std::int64_t>(last - first);
          for (auto index = first; index < last; ++index) {
            const auto& part = of.right.panels[index];
            const upcoming next{left + count * of.left_stride
                                    + static_cast<std::int64_t>(index - first) * share
                                          * line_floats,
                                share, with.out + row * of.out_stride + part.first, of.out_stride};
            const float* right = with.right + part.first * inner;
            const auto width = part.vectors * lanes;
            if (bare && part.first + width <= of.right.columns) {
              multiply(count, left, of.left_stride, right, part.vectors, inner,
                       with.out + row * of.out_stride + part.first, of.out_stride, next);
              continue;
            }
            multiply(count, left, of.left_stride, right, part.vectors, inner, scratch, width, next);
            finish(of, with, {row, count, part.first, part.vectors},
                   [&](std::int64_t r, std::int64_t v)
                       HWY_ATTR { return hn::Load(d, scratch + r * width + v * lanes); });
          }
        }
      });
}

std::int64_t lanes_of_target() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

panel_vectors best_of_target() {
  return best;
}

void run_member(const product& of, const tensors& with, std::int64_t member, std::int64_t members,
                float* workspace) {
  const auto panels = static_cast<std::int64_t>(of.right.panels.size());
  // Rows are shared out where there are enough of them, else columns.
  const bool by_rows = of.rows >= 2 * group_rows * members || panels < members;
  const range all_rows{0, of.rows};
  const range all_panels{0, panels};
  const auto share = [&](range of_all) {
    return range{of_all.end * member / members, of_all.end * (member + 1) / members};
  };
  run_panels(of, with, by_rows ? share(all_rows) : all_rows,
             by_rows ? all_panels : share(all_panels), workspace);
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
