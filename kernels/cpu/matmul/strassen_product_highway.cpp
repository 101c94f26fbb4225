#include "kernels/cpu/matmul/strassen_product.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul/strassen_product_highway.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"
#include "kernels/cpu/matmul/adding_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace strassen;
using packed_product::tensors;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

/// A block of results and where it belongs in the output.
struct block {
  std::int64_t row, rows;
  std::int64_t column, vectors;
};

// Adds the bias, applies the steps and writes; `value(row, vector)` is the product.
template <class Value>
HWY_INLINE void finish(const product& of, const tensors& with, const block& at,
                       const Value& value) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto stride = of.right.columns;
  constexpr int together = 8;
  for (std::int64_t v = 0; v < at.vectors; ++v) {
    const auto column = at.column + v * lanes;
    const auto bias = with.bias != nullptr ? hn::LoadU(d, with.bias + column) : hn::Zero(d);
    std::int64_t r = 0;
    for (; r + together <= at.rows; r += together) {
      const auto to = (at.row + r) * stride + column;
      vector values[together];
      HWY_UNROLL(8)
      for (int i = 0; i < together; ++i)
        values[i] = hn::Add(value(r + i, v), bias);
      apply_steps(d, of.fused, with.operands, to, stride, values);
      HWY_UNROLL(8)
      for (int i = 0; i < together; ++i)
        hn::StoreU(values[i], d, with.out + to + i * stride);
    }
    for (; r < at.rows; ++r) {
      const auto to = (at.row + r) * stride + column;
      vector one[1] = {hn::Add(value(r, v), bias)};
      apply_steps(d, of.fused, with.operands, to, 0, one);
      hn::StoreU(one[0], d, with.out + to);
    }
  }
}

// Rows of scratch are a line longer than they need be, so that few share a place in the cache.
std::int64_t sum_stride(const product& of) {
  constexpr std::int64_t line = 16; // floats
  return (of.right.quarter.inner + line - 1) / line * line + line;
}

constexpr std::int64_t left_sums = 7;
constexpr std::int64_t right_buffers = 5;
constexpr std::int64_t most_rows = block_rows * 3 / 4; // in half of the last, largest block

std::int64_t workspace_of(const product& of) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag{}));
  return std::max(most_rows * (left_sums * sum_stride(of) + right_buffers * widest_tile * lanes),
                  of.rest.workspace());
}

// Calls `step(i)` for vectors that cover [0, count); the last one overlaps its neighbour.
template <class Step>
HWY_INLINE void for_each_vector(std::int64_t count, const Step& step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag{}));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    step(i);
  if (i < count)
    step(count - lanes);
}

// S1 = A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2.
void add_left(std::int64_t rows, std::int64_t half, const float* upper, const float* lower,
              std::int64_t stride, float* const (&sums)[4], std::int64_t sums_stride) {
  const tag d;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* above = upper + r * stride;
    const float* below = lower + r * stride;
    const auto to = r * sums_stride;
    for_each_vector(half, [&](std::int64_t i) HWY_ATTR {
      const auto a11 = hn::LoadU(d, above + i);
      const auto a21 = hn::LoadU(d, below + i);
      const auto s1 = hn::Add(a21, hn::LoadU(d, below + half + i));
      const auto s2 = hn::Sub(s1, a11);
      hn::StoreU(s1, d, sums[0] + to + i);
      hn::StoreU(s2, d, sums[1] + to + i);
      hn::StoreU(hn::Sub(a11, a21), d, sums[2] + to + i);
      hn::StoreU(hn::Sub(hn::LoadU(d, above + half + i), s2), d, sums[3] + to + i);
    });
  }
}

factor copy(std::int64_t rows, std::int64_t half, const float* from, std::int64_t stride, float* to,
            std::int64_t to_stride) {
  const tag d;
  for (std::int64_t r = 0; r < rows; ++r)
    for_each_vector(half, [&](std::int64_t i) HWY_ATTR {
      hn::StoreU(hn::LoadU(d, from + r * stride + i), d, to + r * to_stride + i);
    });
  return {to, to_stride};
}

// Rows [first, last), of which the upper half is paired with the lower one. Where their number is
// odd, the row in the middle stands in both halves and is written with the upper one.
void run_rows(const product& of, const tensors& with, std::int64_t first, std::int64_t last,
              float* scratch) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto& right = of.right;
  const auto inner = right.inner;
  const auto half = right.quarter.inner;
  const auto rows = (last - first + 1) / 2;
  const auto middle = last - rows;
  const auto again = first + rows - middle;
  const float* upper = with.left + first * inner;
  const float* lower = with.left + middle * inner;
  const auto stride = sum_stride(of);
  float* const sums[4] = {scratch, scratch + most_rows * stride, scratch + 2 * most_rows * stride,
                          scratch + 3 * most_rows * stride};
  add_left(rows, half, upper, lower, inner, sums, stride);
  factor a11{upper, inner};
  factor a12{upper + half, inner};
  factor a22{lower + half, inner};
  constexpr std::int64_t crowding = 256; // rows of the left side share places in the cache
  if (inner % crowding == 0) {
    auto* to = scratch + 4 * most_rows * stride;
    for (auto* of_rows : {&a11, &a12, &a22}) {
      *of_rows = copy(rows, half, of_rows->at, of_rows->stride, to, stride);
      to += most_rows * stride;
    }
  }
  auto* buffers = scratch + left_sums * most_rows * stride;
  const float* packed = with.right;
  for (const auto& part : right.quarter.panels) {
    const auto width = part.vectors * lanes;
    float* const p1 = buffers;
    float* const u2 = p1 + most_rows * width;
    float* const u3 = u2 + most_rows * width;
    float* const p5 = u3 + most_rows * width;
    float* const done = p5 + most_rows * width;
    const auto times = [&](const factor& a, std::int64_t factor_of_right, float* to,
                           const addends& from) {
      multiply(rows, a, packed + factor_of_right * half * width, part.vectors, half, to, width,
               from);
    };
    // Rows of the half that begins at `row`; its first `skipped` are not wanted.
    const auto write = [&](std::int64_t row, std::int64_t skipped, std::int64_t column,
                           const auto& value) HWY_ATTR {
      finish(of, with, {row + skipped, rows - skipped, column, part.vectors},
             [&](std::int64_t r, std::int64_t v)
                 HWY_ATTR { return value((r + skipped) * width + v * lanes); });
    };
    const auto product_at = [&](std::int64_t i) HWY_ATTR { return hn::Load(d, done + i); };
    const auto fetch = [&](std::int64_t row, std::int64_t column) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t v = 0; v < part.vectors; ++v)
          hwy::Prefetch(with.out + (row + r) * right.columns + column + v * lanes);
    };
    const auto left_column = part.first;
    const auto right_column = right.quarter.columns + part.first;
    const factor s1{sums[0], stride};
    const factor s2{sums[1], stride};
    const factor s3{sums[2], stride};
    const factor s4{sums[3], stride};
    times(a11, 0, p1, {});
    fetch(first, left_column);
    times(a12, 1, done, {p1});
    write(first, 0, left_column, product_at);
    times(s2, 2, u2, {p1});
    times(s1, 3, p5, {});
    fetch(first, right_column);
    times(s4, 4, done, {u2, p5});
    write(first, 0, right_column, product_at);
    times(s3, 5, u3, {u2});
    fetch(middle, left_column);
    times(a22, 6, done, {u3});
    write(middle, again, left_column, product_at);
    write(middle, again, right_column, [&](std::int64_t i) HWY_ATTR {
      return hn::Add(hn::Load(d, u3 + i), hn::Load(d, p5 + i));
    });
    packed += factors * half * width;
  }
}

void run_member(const product& of, const tensors& with, std::int64_t member, std::int64_t members,
                float* workspace) {
  const auto of_item = blocks_of_item(of.rows_of_item);
  const auto blocks = of.rows / of.rows_of_item * of_item;
  for (auto block = blocks * member / members; block < blocks * (member + 1) / members; ++block) {
    const auto item = block / of_item * of.rows_of_item;
    const auto first = block % of_item * block_rows;
    const bool is_last = block % of_item + 1 == of_item;
    run_rows(of, with, item + first, item + (is_last ? of.rows_of_item : first + block_rows),
             workspace);
  }
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::strassen {
namespace {
HWY_EXPORT(workspace_of);
HWY_EXPORT(run_member);
} // namespace

std::int64_t product::workspace() const noexcept {
  return HWY_DYNAMIC_DISPATCH(workspace_of)(*this);
}

void run(const product& of, const packed_product::tensors& with, std::int64_t member,
         std::int64_t members, float* workspace) {
  HWY_DYNAMIC_DISPATCH(run_member)(of, with, member, members, workspace);
  if (of.right.rest.columns == 0)
    return;
  const auto column = 2 * of.right.quarter.columns;
  auto rest = with;
  rest.right += factors * of.right.quarter.size();
  rest.bias = with.bias != nullptr ? with.bias + column : nullptr;
  rest.out += column;
  for (auto& operand : rest.operands)
    if (operand != nullptr)
      operand += column;
  packed_product::run(of.rest, rest, member, members, workspace);
}

} // namespace troupe::cpu::strassen
#endif
