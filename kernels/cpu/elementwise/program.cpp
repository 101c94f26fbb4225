// How a chain of steps walks through memory. Two ways, chosen when the program is made: long rows
// are cut into blocks; short rows, as those of a few channels in channels-last layout, are taken
// several at a time, for which an operand that repeats from row to row is laid out once.

#include "kernels/cpu/elementwise/program.hpp"

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

constexpr std::int64_t row_block = 2048; // elements of a long row per work item: 8 KiB
constexpr std::int64_t short_row = 256;  // rows below are worth tiling
constexpr std::int64_t tile_elements = 512;
constexpr std::size_t most_operands = 8;

std::int64_t cost_of(step_kind kind) {
  switch (kind) {
    case step_kind::sigmoid:
    case step_kind::tanh:
    case step_kind::silu:
    case step_kind::gelu_erf:
    case step_kind::gelu_tanh:
    case step_kind::elu:
    case step_kind::erf:
    case step_kind::exp:
    case step_kind::log: return 6;
    default: return 1;
  }
}

} // namespace

struct program::bound {
  std::array<const float*, most_operands> data{};
  float* output = nullptr;
};

tl::expected<program, std::string> program::make(const tensor_desc& output,
                                                 std::vector<program_operand> operands,
                                                 std::vector<part> parts, int threads) {
  if (operands.size() > most_operands)
    return decline("{} operands: at most {} are supported", operands.size(), most_operands);
  std::vector<tensor_desc> descs;
  for (const auto& operand : operands) {
    if (operand.desc.type != dtype::float32)
      return decline("an operand is {}, not FP32", to_string(operand.desc.type));
    descs.push_back(operand.desc);
  }
  if (output.type != dtype::float32)
    return decline("the output is {}, not FP32", to_string(output.type));
  auto loops = iterate(output, descs);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  const auto inner = loops->inner();
  for (auto& strides : loops->strides)
    if (inner == 1)
      strides.back() = 0;
    else if (strides.back() > 1)
      return decline("an operand strides through memory against the output's order");

  if (parts.empty())
    parts.push_back({{step_kind::copy}});
  program made;
  made.cost_ = 0;
  for (const auto& each : parts)
    made.cost_ += cost_of(each.what.kind);
  made.block_ = std::min(inner, row_block);
  const auto last = loops->dims.size() - 1;
  if (last > 0 && inner > 0 && inner < short_row) {
    bool tiles = true;
    for (const auto& strides : loops->strides) {
      const bool contiguous = strides[last] == 1 && strides[last - 1] == inner;
      const bool repeated = strides[last - 1] == 0;
      tiles = tiles && (contiguous || repeated);
    }
    if (tiles) {
      made.tile_rows_ = std::max<std::int64_t>(1, tile_elements / inner);
      made.tile_loops_.dims.assign(loops->dims.begin(), loops->dims.end() - 1);
      made.tile_loops_.dims.back() = 1;
      for (const auto& strides : loops->strides) {
        made.tile_loops_.strides.emplace_back(strides.begin(), strides.end() - 1);
        made.tile_loops_.strides.back().back() = 0;
      }
    }
  }
  made.loops_ = *std::move(loops);
  made.operands_ = std::move(operands);
  made.parts_ = std::move(parts);
  made.threads_ = threads;
  return made;
}

void program::append_post_ops(const kernel_spec& spec, std::vector<program_operand>& operands,
                              std::vector<part>& parts) {
  for (const auto& fused : spec.post_ops) {
    part next{step_of(fused)};
    if (takes_operand(next.what.kind)) {
      next.operand = operands.size();
      operands.push_back({fused.operand, spec.inputs[fused.operand].desc});
    }
    parts.push_back(next);
  }
}

void program::run_block(std::span<const float* const> at, float* y, std::int64_t count) const {
  const auto elements = static_cast<std::size_t>(count);
  const float* x = at[0];
  if (repeats(0) && tile_rows_ == 0) {
    std::fill_n(y, count, *x);
    x = y;
  }
  for (const auto& each : parts_) {
    const bool with_operand = takes_operand(each.what.kind);
    const bool repeated = with_operand && tile_rows_ == 0 && repeats(each.operand);
    run_step(each.what, x, with_operand ? at[each.operand] : nullptr, repeated, y, elements);
    x = y;
  }
}

void program::run_rows(const bound& on, std::int64_t begin, std::int64_t end) const {
  const auto inner = loops_.inner();
  const auto blocks = (inner + block_ - 1) / block_;
  std::array<const float*, most_operands> at{};
  for_each_row(loops_, begin / blocks, (end + blocks - 1) / blocks,
               [&](std::int64_t row, std::span<const std::int64_t> offsets) {
                 const auto first = std::max<std::int64_t>(begin - row * blocks, 0);
                 const auto last = std::min(end - row * blocks, blocks);
                 for (auto block = first; block < last; ++block) {
                   const auto start = block * block_;
                   for (std::size_t i = 0; i < offsets.size(); ++i)
                     at[i] = on.data[i] + offsets[i] + (repeats(i) ? 0 : start);
                   run_block(at, on.output + row * inner + start, std::min(block_, inner - start));
                 }
               });
}

void program::run_tiles(const bound& on, std::int64_t begin, std::int64_t end) const {
  // A work item is a group of rows of the second innermost loop.
  const auto inner = loops_.inner();
  const auto last = loops_.dims.size() - 1;
  const auto rows = loops_.dims[last - 1];
  const auto groups = (rows + tile_rows_ - 1) / tile_rows_;
  alignas(64) std::array<std::array<float, tile_elements>, most_operands> tiles;
  std::array<const float*, most_operands> at{};
  for_each_row(tile_loops_, begin / groups, (end + groups - 1) / groups,
               [&](std::int64_t index, std::span<const std::int64_t> offsets) {
                 for (std::size_t i = 0; i < offsets.size(); ++i) {
                   if (loops_.strides[i][last - 1] != 0)
                     continue;
                   const float* from = on.data[i] + offsets[i];
                   for (std::int64_t row = 0; row < std::min(tile_rows_, rows); ++row)
                     for (std::int64_t column = 0; column < inner; ++column)
                       tiles[i][static_cast<std::size_t>(row * inner + column)] =
                           from[repeats(i) ? 0 : column];
                 }
                 const auto first = std::max<std::int64_t>(begin - index * groups, 0);
                 const auto stop = std::min(end - index * groups, groups);
                 for (auto group = first; group < stop; ++group) {
                   const auto start = group * tile_rows_;
                   for (std::size_t i = 0; i < offsets.size(); ++i)
                     at[i] = loops_.strides[i][last - 1] == 0
                                 ? tiles[i].data()
                                 : on.data[i] + offsets[i] + start * inner;
                   run_block(at, on.output + (index * rows + start) * inner,
                             std::min(tile_rows_, rows - start) * inner);
                 }
               });
}

void program::run(const kernel_args& args) const {
  bound on;
  on.output = args.outputs[0].as<float>();
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const auto& operand = operands_[i];
    if (operand.owned)
      on.data[i] = operand.owned->data();
    else if (operand.input == program_operand::output_in_place)
      on.data[i] = on.output;
    else
      on.data[i] = args.inputs[operand.input].as<const float>();
  }
  if (loops_.inner() == 0)
    return;
  if (tile_rows_ > 0) {
    const auto rows = loops_.dims[loops_.dims.size() - 2];
    const auto groups = (rows + tile_rows_ - 1) / tile_rows_;
    const auto outer = rows == 0 ? 0 : loops_.outer() / rows;
    parallel_for(threads_, outer * groups, tile_rows_ * loops_.inner() * cost_,
                 [&](std::int64_t begin, std::int64_t end) { run_tiles(on, begin, end); });
    return;
  }
  const auto blocks = (loops_.inner() + block_ - 1) / block_;
  parallel_for(threads_, loops_.outer() * blocks, block_ * cost_,
               [&](std::int64_t begin, std::int64_t end) { run_rows(on, begin, end); });
}

made_kernel program::make_kernel_of(tl::expected<program, std::string> made, std::string name,
                                    const tensor_desc& output) {
  if (!made)
    return tl::unexpected{std::move(made).error()};
  kernel_facts facts{.name = std::move(name)};
  const auto allow = [&](const program_operand& operand) {
    if (!operand.owned && operand.input < 64 && operand.desc == output)
      facts.overwrites |= std::uint64_t{1} << operand.input;
  };
  allow(made->operands_[0]);
  // A repeated x, such as every x of a single element, is spread over the output first.
  const bool x_is_full = made->operands_[0].desc == output && !made->repeats(0);
  if (x_is_full && !made->parts_.empty() && takes_operand(made->parts_[0].what.kind))
    allow(made->operands_[made->parts_[0].operand]);
  return make_kernel(std::move(facts),
                     [program = *std::move(made)](const kernel_args& args) { program.run(args); });
}

} // namespace troupe::cpu
