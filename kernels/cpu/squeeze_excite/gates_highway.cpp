#include "kernels/cpu/squeeze_excite/gates.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/squeeze_excite/gates_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace gates;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

constexpr std::array<const float*, fused_steps::limit> no_operands{};

// Activations in place, on whole vectors.
void activate(const fused_steps& steps, float* values, std::int64_t count) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    vector one[1] = {hn::LoadU(d, values + i)};
    apply_steps(d, steps, no_operands, 0, 0, one);
    hn::StoreU(one[0], d, values + i);
  }
}

// to[row] = the products of `Rows` rows with x, for whole vectors.
template <int Rows>
HWY_INLINE void multiply_rows(const float* rows, const float* x, std::int64_t width, float* to) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  vector sums[Rows];
  HWY_UNROLL(4)
  for (auto& sum : sums)
    sum = hn::Zero(d);
  for (std::int64_t i = 0; i < width; i += lanes) {
    const auto value = hn::LoadU(d, x + i);
    HWY_UNROLL(4)
    for (int r = 0; r < Rows; ++r)
      sums[r] = hn::MulAdd(hn::LoadU(d, rows + r * width + i), value, sums[r]);
  }
  for (int r = 0; r < Rows; ++r)
    to[r] = hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

// `Width` vectors: to += the sum of values[k] * matrix[k].
template <int Width>
HWY_INLINE void add_block(const float* matrix, const float* values, std::int64_t count, float* to) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  vector sums[Width];
  HWY_UNROLL(4)
  for (int v = 0; v < Width; ++v)
    sums[v] = hn::LoadU(d, to + v * lanes);
  for (std::int64_t k = 0; k < count; ++k, matrix += Width * lanes) {
    const auto value = hn::Set(d, values[k]);
    HWY_UNROLL(4)
    for (int v = 0; v < Width; ++v)
      sums[v] = hn::MulAdd(hn::LoadU(d, matrix + v * lanes), value, sums[v]);
  }
  HWY_UNROLL(4)
  for (int v = 0; v < Width; ++v)
    hn::StoreU(sums[v], d, to + v * lanes);
}

void gates_of_image(const form& of, const weights& with, float* sums, float* workspace,
                    float* repeated) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag{}));
  const auto width = (of.channels + lanes - 1) / lanes * lanes;
  std::fill_n(sums + of.channels, width - of.channels, 0.0F);
  const auto share = 1.0F / static_cast<float>(of.positions);
  for (std::int64_t c = 0; c < of.channels; ++c)
    sums[c] *= share;

  float* const between = workspace;
  const auto room = (of.squeezed + lanes - 1) / lanes * lanes;
  std::int64_t row = 0;
  for (; row + 4 <= of.squeezed; row += 4)
    multiply_rows<4>(with.squeeze + row * width, sums, width, between + row);
  for (; row < of.squeezed; ++row)
    multiply_rows<1>(with.squeeze + row * width, sums, width, between + row);
  std::fill_n(between + of.squeezed, room - of.squeezed, 0.0F);
  if (with.squeeze_bias != nullptr)
    for (std::int64_t i = 0; i < of.squeezed; ++i)
      between[i] += with.squeeze_bias[i];
  activate(of.squeeze, between, room);

  float* const gates = workspace + room;
  std::fill_n(gates, width, 0.0F);
  if (with.excite_bias != nullptr)
    std::copy_n(with.excite_bias, of.channels, gates);
  const float* matrix = with.excite;
  std::int64_t first = 0;
  for (; first + block_vectors * lanes <= width; first += block_vectors * lanes) {
    add_block<block_vectors>(matrix, between, of.squeezed, gates + first);
    matrix += block_vectors * lanes * of.squeezed;
  }
  switch ((width - first) / lanes) {
    case 1: add_block<1>(matrix, between, of.squeezed, gates + first); break;
    case 2: add_block<2>(matrix, between, of.squeezed, gates + first); break;
    case 3: add_block<3>(matrix, between, of.squeezed, gates + first); break;
    default: break;
  }
  activate(of.excite, gates, width);
  for (std::int64_t at = 0; at < of.period(); at += of.channels)
    std::copy_n(gates, of.channels, repeated + at);
}

void gate_image(const form& of, const float* x, const float* repeated,
                const std::array<const float*, fused_steps::limit>& operands, std::int64_t begin,
                std::int64_t end, float* y) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto period = of.period();
  constexpr int together = block_vectors;
  for (auto first = begin; first < end; first += period) {
    const auto count = std::min(period, end - first);
    std::int64_t i = 0;
    for (; i + together * lanes <= count; i += together * lanes) {
      const auto at = first + i;
      vector values[together];
      HWY_UNROLL(4)
      for (int v = 0; v < together; ++v)
        values[v] =
            hn::Mul(hn::LoadU(d, x + at + v * lanes), hn::LoadU(d, repeated + i + v * lanes));
      apply_steps(d, of.after, operands, at, lanes, values);
      HWY_UNROLL(4)
      for (int v = 0; v < together; ++v)
        hn::StoreU(values[v], d, y + at + v * lanes);
    }
    for (; i + lanes <= count; i += lanes) {
      vector one[1] = {hn::Mul(hn::LoadU(d, x + first + i), hn::LoadU(d, repeated + i))};
      apply_steps(d, of.after, operands, first + i, 0, one);
      hn::StoreU(one[0], d, y + first + i);
    }
    if (i == count)
      continue;
    // Less than a vector at the image's end.
    const auto at = first + i;
    const auto bytes = static_cast<std::size_t>(count - i) * sizeof(float);
    HWY_ALIGN float part[fused_steps::limit + 1][hn::MaxLanes(tag{})] = {};
    auto own = operands;
    for (std::size_t step = 0; step < of.after.count; ++step)
      if (own[step] != nullptr) {
        std::memcpy(part[step], own[step] + at, bytes);
        own[step] = part[step];
      }
    auto* last = part[fused_steps::limit];
    std::memcpy(last, x + at, bytes);
    vector one[1] = {hn::Mul(hn::Load(d, last), hn::LoadU(d, repeated + i))};
    apply_steps(d, of.after, own, 0, 0, one);
    hn::Store(one[0], d, last);
    std::memcpy(y + at, last, bytes);
  }
}

std::int64_t lanes_of_target() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::gates {
namespace {
HWY_EXPORT(lanes_of_target);
HWY_EXPORT(gates_of_image);
HWY_EXPORT(gate_image);
} // namespace

std::int64_t vector_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes_of_target)();
}

void compute_gates(const form& of, const weights& with, float* sums, float* workspace,
                   float* repeated) {
  HWY_DYNAMIC_DISPATCH(gates_of_image)(of, with, sums, workspace, repeated);
}

void apply_gates(const form& of, const float* x, const float* repeated,
                 const std::array<const float*, fused_steps::limit>& operands, std::int64_t begin,
                 std::int64_t end, float* y) {
  HWY_DYNAMIC_DISPATCH(gate_image)(of, x, repeated, operands, begin, end, y);
}

} // namespace troupe::cpu::gates
#endif
