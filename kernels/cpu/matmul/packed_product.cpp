#include "kernels/cpu/matmul/packed_product.hpp"

#include "kernels/cpu/matmul/packed_kernel.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace troupe::cpu::packed_product {
namespace {

// Rows this far apart share their places in the first-level cache: few should be read at a time.
constexpr std::int64_t crowding = 512; // floats

// Cuts columns, counted in vectors, so that as few panels as possible are narrower than the best.
std::vector<panel> cut(std::int64_t vectors, std::int64_t inner) {
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
    panels.push_back({(vectors - left) * lanes, std::min(best, left)});
  }
  return panels;
}

} // namespace

std::int64_t packing::size() const noexcept {
  std::int64_t vectors = 0;
  for (const auto& part : panels)
    vectors += part.vectors;
  return vectors * lanes * inner;
}

packing plan_packing(std::int64_t inner, std::int64_t columns) {
  const auto lanes = vector_lanes();
  return {.inner = inner,
          .columns = columns,
          .lanes = lanes,
          .panels = cut((columns + lanes - 1) / lanes, inner)};
}

void pack(const packing& of, const plain_matrix& matrix, float* to) {
  std::fill_n(to, of.size(), 0.0F);
  for (const auto& part : of.panels) {
    const auto width = part.vectors * of.lanes;
    const auto count = std::min(width, of.columns - part.first);
    for (std::int64_t k = 0; k < of.inner; ++k, to += width) {
      const float* from = matrix.from + k * matrix.row_stride + part.first * matrix.column_stride;
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = from[i * matrix.column_stride];
    }
  }
}

std::int64_t product::workspace() const noexcept {
  return least_rows * best_vectors().wide * right.lanes;
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
  product made{.right = plan_packing(wanted.inner, wanted.columns),
               .fused = *fused,
               .rows = wanted.rows,
               .left_stride = wanted.inner,
               .out_stride = wanted.columns};
  const auto form = fmt::format("product:{}:{}", made.right.lanes, wanted.row_stride);
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
