#include "kernels/cpu/matmul/packed_product.hpp"

#include "kernels/cpu/matmul/packed_kernel.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace troupe::cpu::packed_product {
namespace {

// Rows this far apart share their places in the first-level cache: few should be read at a time.
constexpr std::int64_t crowding = 512; // floats

// Cuts columns, counted in vectors, so that as few panels as possible are narrower than the best.
std::vector<panel> cut(std::int64_t first, std::int64_t vectors, std::int64_t inner) {
  const auto [wide, narrow] = best_vectors();
  std::int64_t wides = vectors / wide;
  if (wide != narrow) {
    const bool fits_wide = vectors % wide == 0 && (vectors % narrow != 0 || inner % crowding == 0);
    if (!fits_wide)
      wides = std::min(vectors % narrow, vectors / wide);
  }
  std::vector<panel> panels;
  const auto lanes = vector_lanes();
  for (std::int64_t left = vectors; left > 0; left -= panels.back().vectors) {
    const auto best = static_cast<std::int64_t>(panels.size()) < wides ? wide : narrow;
    panels.push_back({first + (vectors - left) * lanes, std::min(best, left)});
  }
  return panels;
}

struct quarter {
  std::int64_t row, column;
};

// Row `k` of a panel of `matrix` into `to`, times `sign`; zeros where there are no columns.
void add_row(const packing& of, const plain_matrix& matrix, std::int64_t k, std::int64_t column,
             std::int64_t width, float sign, float* to) {
  const auto count = std::min(width, of.columns - column);
  const float* from = matrix.from + k * matrix.row_stride + column * matrix.column_stride;
  for (std::int64_t i = 0; i < count; ++i)
    to[i] += sign * from[i * matrix.column_stride];
}

} // namespace

std::int64_t packing::size() const noexcept {
  std::int64_t vectors = 0;
  for (const auto& part : whole)
    vectors += part.vectors;
  return halves * combination() + vectors * lanes * inner;
}

packing plan_packing(std::int64_t inner, std::int64_t columns, bool halved) {
  packing made{.inner = inner, .columns = columns, .lanes = vector_lanes()};
  if (halved) {
    const auto half = columns / made.lanes / 2;
    made.half_columns = half * made.lanes;
    made.half = cut(0, half, inner / 2);
  }
  const auto first = 2 * made.half_columns;
  made.whole = cut(first, (columns - first + made.lanes - 1) / made.lanes, inner);
  return made;
}

void pack(const packing& of, const plain_matrix& matrix, float* to) {
  std::fill_n(to, of.size(), 0.0F);
  const auto inner = of.half_inner();
  const quarter b11{0, 0};
  const quarter b12{0, of.half_columns};
  const quarter b21{inner, 0};
  const quarter b22{inner, of.half_columns};
  struct sum {
    quarter plus, other;
    float sign;
  };
  const std::array<sum, halves> sums{{{b11, b22, 1.0F},
                                      {b11, b11, 0.0F},
                                      {b12, b22, -1.0F},
                                      {b21, b11, -1.0F},
                                      {b22, b22, 0.0F},
                                      {b11, b12, 1.0F},
                                      {b21, b22, 1.0F}}};
  if (of.half_columns > 0)
    for (const auto& [plus, other, sign] : sums)
      for (const auto& part : of.half)
        for (std::int64_t k = 0; k < inner; ++k, to += part.vectors * of.lanes) {
          const auto width = part.vectors * of.lanes;
          add_row(of, matrix, plus.row + k, plus.column + part.first, width, 1.0F, to);
          if (sign != 0.0F)
            add_row(of, matrix, other.row + k, other.column + part.first, width, sign, to);
        }
  for (const auto& part : of.whole)
    for (std::int64_t k = 0; k < of.inner; ++k, to += part.vectors * of.lanes)
      add_row(of, matrix, k, part.first, part.vectors * of.lanes, 1.0F, to);
}

std::int64_t product::workspace() const noexcept {
  const auto results = group_rows * best_vectors().wide * right.lanes;
  if (right.half_columns == 0)
    return results;
  return halves * (results + group_rows * right.half_inner());
}

} // namespace troupe::cpu::packed_product

namespace troupe::cpu {

using namespace packed_product;

made_kernel make_packed_kernel(const kernel_spec& spec, weight_cache& weights,
                               const packed_request& wanted) {
  auto bias = wanted.bias;
  std::size_t steps_done = 0;
  if (!bias && !spec.post_ops.empty() && spec.post_ops[0].kind == post_op_kind::add) {
    const auto& addend = spec.inputs[spec.post_ops[0].operand].desc;
    if (wanted.columns_last && addend.type == dtype::float32 && addend.elements() == wanted.columns
        && !addend.dims.empty() && addend.dims.back() == wanted.columns) {
      bias = spec.post_ops[0].operand;
      steps_done = 1;
    }
  }
  const auto fused = fused_steps::make(spec, steps_done);
  if (!fused)
    return tl::unexpected{fused.error()};
  product made{.right = plan_packing(wanted.inner, wanted.columns, false),
               .fused = *fused,
               .rows = wanted.rows,
               .left_stride = wanted.inner,
               .out_stride = wanted.columns};
  const auto form =
      fmt::format("product:{}:{}:{}", made.right.lanes, wanted.row_stride, made.right.half_columns);
  auto packed = weights.find_or_pack(wanted.right, form,
                                     static_cast<std::size_t>(made.right.size()) * sizeof(float),
                                     [&](std::span<std::byte> to) -> result<void> {
                                       pack(made.right,
                                            {elements_of<float>(wanted.right->data).data(),
                                             wanted.row_stride, wanted.column_stride},
                                            reinterpret_cast<float*>(to.data()));
                                       return {};
                                     });
  if (!packed)
    return tl::unexpected{packed.error().text};
  const std::int64_t members = spec.threads;
  kernel_facts facts{.name = "packed",
                     .workspace_bytes =
                         static_cast<std::size_t>(members * made.workspace()) * sizeof(float),
                     .unread = 2};
  for (std::size_t i = 0; i < fused->count; ++i) // a residual is read before its place is written
    if (fused->steps[i].kind == post_op_kind::add && fused->steps[i].operand < 64)
      facts.overwrites |= std::uint64_t{1} << fused->steps[i].operand;
  return make_kernel(std::move(facts), [made = std::move(made), packed = *std::move(packed), bias,
                                        members](const kernel_args& args) {
    const tensors with{.left = args.inputs[0].as<const float>(),
                       .right = elements_of<float>(packed).data(),
                       .bias = bias ? args.inputs[*bias].as<const float>() : nullptr,
                       .out = args.outputs[0].as<float>(),
                       .operands = made.fused.operands(args)};
    auto* scratch = reinterpret_cast<float*>(args.workspace.data());
    const auto cost = made.rows * made.right.inner * made.right.columns / members / 16;
    parallel_for(static_cast<int>(members), members, cost,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto member = begin; member < end; ++member)
                     run(made, with, member, members, scratch + member * made.workspace());
                 });
  });
}

} // namespace troupe::cpu
