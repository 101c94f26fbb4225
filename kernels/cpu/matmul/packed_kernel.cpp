// Kernels on packed products: the plain one and Strassen's.

#include "kernels/cpu/matmul/packed_kernel.hpp"

#include "kernels/cpu/matmul/packed_product.hpp"
#include "kernels/cpu/matmul/strassen_product.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace troupe::cpu {
namespace {

using packed_product::plain_matrix;
using packed_product::tensors;

// What follows the product: a value per column, then steps.
struct tail {
  std::optional<std::size_t> bias;
  fused_steps fused;
};

tl::expected<tail, std::string> tail_of(const kernel_spec& spec, const packed_request& wanted) {
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
  auto fused = fused_steps::make(spec, steps_done);
  if (!fused)
    return tl::unexpected{std::move(fused).error()};
  return tail{bias, *fused};
}

std::string form_of(const packed_request& of, std::string_view form) {
  return fmt::format("{}:{}", form, of.row_stride);
}

template <class Packing>
tl::expected<shared_bytes, std::string> packed_by(weight_cache& weights, const packed_request& from,
                                                  const Packing& right, std::string_view form) {
  auto packed = weights.find_or_pack(
      from.right, form_of(from, form), static_cast<std::size_t>(right.size()) * sizeof(float),
      [&](std::span<std::byte> to) -> result<void> {
        pack(right,
             plain_matrix{elements_of<float>(from.right->data).data(), from.row_stride,
                          from.column_stride},
             reinterpret_cast<float*>(to.data()));
        return {};
      });
  if (!packed)
    return tl::unexpected{packed.error().text};
  return *std::move(packed);
}

kernel_facts facts_of(std::string name, std::int64_t workspace, const fused_steps& fused) {
  kernel_facts facts{.name = std::move(name),
                     .workspace_bytes = static_cast<std::size_t>(workspace) * sizeof(float),
                     .unread = 2};
  for (std::size_t i = 0; i < fused.count; ++i) // a residual is read before its place is written
    if (fused.steps[i].kind == post_op_kind::add && fused.steps[i].operand < 64)
      facts.overwrites |= std::uint64_t{1} << fused.steps[i].operand;
  return facts;
}

tensors tensors_of(const kernel_args& args, const shared_bytes& packed, const tail& then) {
  return {.left = args.inputs[0].as<const float>(),
          .right = elements_of<float>(packed).data(),
          .bias = then.bias ? args.inputs[*then.bias].as<const float>() : nullptr,
          .out = args.outputs[0].as<float>(),
          .operands = then.fused.operands(args)};
}

// Where the sums of quarters cost less than the product that they save.
constexpr std::int64_t fewest_rows = 48; // of an item, and of a member of the team
constexpr std::int64_t fewest_inner = 128;
constexpr std::int64_t fewest_vectors = 6;

// Register tiles of two vectors, which is all that 16 registers hold, begin and end too often: with
// AVX2 the plain product is faster by a seventh.
constexpr std::int64_t fewest_tile_vectors = 4;

std::string unfit(const packed_request& wanted, const strassen::packing& right, int threads) {
  if (packed_product::best_vectors().wide < fewest_tile_vectors)
    return "register tiles are too narrow";
  if (wanted.rows < fewest_rows * threads || wanted.rows / wanted.items < fewest_rows)
    return fmt::format("fewer than {} rows for each thread or item", fewest_rows);
  const auto blocks = wanted.items * strassen::blocks_of_item(wanted.rows / wanted.items);
  if (const auto turns = (blocks + threads - 1) / threads; 8 * turns * threads > 9 * blocks)
    return fmt::format("{} threads would share {} blocks of rows unevenly", threads, blocks);
  if (wanted.inner < fewest_inner || !right.possible()
      || wanted.columns < fewest_vectors * packed_product::vector_lanes())
    return fmt::format("a right-hand side of [{}, {}] is too small or odd", wanted.inner,
                       wanted.columns);
  return {};
}

// A large weight takes longer to add up and pack than a plan for new rows may: the form it was
// first packed in decides for all of them, unless the choice was measured.
constexpr std::int64_t most_repacked = 128 * 1024; // elements

bool packed_otherwise(const kernel_spec& spec, const weight_cache& weights,
                      const packed_request& wanted, std::string_view form) {
  if (!spec.prefer.empty() || wanted.inner * wanted.columns <= most_repacked)
    return false;
  const auto pinned = weights.pinned_form(wanted.right.get());
  return pinned && *pinned != form_of(wanted, form);
}

} // namespace

made_kernel make_packed_kernel(const kernel_spec& spec, weight_cache& weights,
                               const packed_request& wanted) {
  const auto then = tail_of(spec, wanted);
  if (!then)
    return tl::unexpected{then.error()};
  packed_product::product made{.right = packed_product::plan_packing(wanted.inner, wanted.columns),
                               .fused = then->fused,
                               .rows = wanted.rows,
                               .left_stride = wanted.inner,
                               .out_stride = wanted.columns};
  auto packed = packed_by(weights, wanted, made.right, fmt::format("product:{}", made.right.lanes));
  if (!packed)
    return tl::unexpected{std::move(packed).error()};
  const std::int64_t members = spec.threads;
  return make_kernel(
      facts_of("packed", members * made.workspace(), then->fused),
      [made = std::move(made), packed = *std::move(packed), then = *then,
       members](const kernel_args& args) {
        const auto with = tensors_of(args, packed, then);
        auto* scratch = reinterpret_cast<float*>(args.workspace.data());
        // Few rows wait for the weights to come, not for the products.
        const auto rows = std::max<std::int64_t>(made.rows, 3);
        const auto cost = rows * made.right.inner * made.right.columns / members / 16;
        parallel_for(static_cast<int>(members), members, cost,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (auto member = begin; member < end; ++member)
                         run(made, with, member, members, scratch + member * made.workspace());
                     });
      });
}

made_kernel make_strassen_kernel(const kernel_spec& spec, weight_cache& weights,
                                 const packed_request& wanted) {
  auto right = strassen::plan_packing(wanted.inner, wanted.columns);
  if (auto reason = unfit(wanted, right, spec.threads); !reason.empty())
    return tl::unexpected{std::move(reason)};
  const auto form = fmt::format("strassen:{}", right.quarter.lanes);
  if (packed_otherwise(spec, weights, wanted, form))
    return decline("the right-hand side is packed for the plain product already");
  const auto then = tail_of(spec, wanted);
  if (!then)
    return tl::unexpected{then.error()};
  auto packed = packed_by(weights, wanted, right, form);
  if (!packed)
    return tl::unexpected{std::move(packed).error()};
  strassen::product made{std::move(right), then->fused, wanted.rows, wanted.rows / wanted.items};
  const std::int64_t members = spec.threads;
  return make_kernel(facts_of("strassen", members * made.workspace(), then->fused),
                     [made = std::move(made), packed = *std::move(packed), then = *then,
                      members](const kernel_args& args) {
                       const auto with = tensors_of(args, packed, then);
                       auto* scratch = reinterpret_cast<float*>(args.workspace.data());
                       parallel_for(static_cast<int>(members), members, parallel_threshold,
                                    [&](std::int64_t begin, std::int64_t end) {
                                      for (auto member = begin; member < end; ++member)
                                        run(made, with, member, members,
                                            scratch + member * made.workspace());
                                    });
                     });
}

} // namespace troupe::cpu
