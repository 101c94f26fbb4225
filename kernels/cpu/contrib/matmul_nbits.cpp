// com.microsoft MatMulNBits-1: A [..., K] times a weight of 4 or 8 bits in blocks along K, each
// with a scale and a zero point; g_idx gives each row those of another block. FP32.

#include "kernels/cpu/contrib/kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

// A dot product in 16 sums, which compilers turn into vectors without reordering a sum.
float dot(const float* x, const float* y, std::int64_t count) {
  constexpr std::int64_t lanes = 16;
  std::array<float, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[static_cast<std::size_t>(lane)] += x[i + lane] * y[i + lane];
  float sum = 0;
  for (; i < count; ++i)
    sum += x[i] * y[i];
  for (const auto lane : sums)
    sum += lane;
  return sum;
}

enum input : std::size_t { a, b, scales, zero_points, group_index, bias };

constexpr std::int64_t most_block = 1024;

struct nbits_product {
  std::int64_t rows = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t bits = 4;
  std::int64_t block = 32;

  [[nodiscard]] std::int64_t blocks() const { return (k + block - 1) / block; }
  [[nodiscard]] std::int64_t block_bytes() const { return block * bits / 8; }
  [[nodiscard]] std::int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }

  // Number `index` of packed numbers, the low bits first.
  [[nodiscard]] int number(const std::uint8_t* packed, std::int64_t index) const {
    if (bits == 8)
      return packed[index];
    return packed[index / 2] >> (index % 2 * 4) & 15;
  }
  [[nodiscard]] float zero_point(const tensor_view& zeros, std::int64_t column,
                                 std::int64_t at) const {
    if (zeros.data == nullptr)
      return static_cast<float>(1 << (bits - 1));
    if (zeros.desc.type == dtype::float32)
      return zeros.as<const float>()[column * blocks() + at];
    return static_cast<float>(number(zeros.as<const std::uint8_t>() + column * zero_bytes(), at));
  }
};

tl::expected<nbits_product, std::string> nbits_product_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& attributes = *spec.attributes;
  nbits_product made;
  made.n = attributes.integer("N", 0);
  made.k = attributes.integer("K", 0);
  made.bits = attributes.integer("bits", 4);
  made.block = attributes.integer("block_size", 32);
  const auto& left = spec.inputs[a].desc;
  if (made.n < 1 || made.k < 1 || (made.bits != 4 && made.bits != 8) || made.block < 16
      || made.block > most_block || left.dims.empty() || left.dims.back() != made.k)
    return decline("{} bits in blocks of {}, or A {} for K {}", made.bits, made.block,
                   to_string(left.dims), made.k);
  if (has_input(spec, group_index)) {
    const auto& groups = spec.inputs[group_index].desc;
    if (groups.type != dtype::int32 || groups.dims.size() != 1 || groups.dims[0] < made.k)
      return decline("g_idx {} of {}: INT32 for each of {} rows expected", to_string(groups.dims),
                     to_string(groups.type), made.k);
  }
  for (const auto index : {a, scales, bias})
    if (has_input(spec, index) && spec.inputs[index].desc.type != dtype::float32)
      return decline("input {} is {}, not FP32", static_cast<int>(index),
                     to_string(spec.inputs[index].desc.type));
  made.rows = left.elements() / made.k;
  const auto elements = [&](std::size_t index) { return spec.inputs[index].desc.elements(); };
  bool fits = spec.inputs[b].desc.type == dtype::uint8
              && elements(b) == made.n * made.blocks() * made.block_bytes()
              && elements(scales) == made.n * made.blocks()
              && (!has_input(spec, bias) || elements(bias) == made.n);
  if (fits && has_input(spec, zero_points)) {
    const auto type = spec.inputs[zero_points].desc.type;
    fits = type == dtype::float32
               ? elements(zero_points) == made.n * made.blocks()
               : type == dtype::uint8 && elements(zero_points) == made.n * made.zero_bytes();
  }
  if (!fits)
    return decline("B {}, scales {} or zero points for N {} and K {}",
                   to_string(spec.inputs[b].desc.dims), to_string(spec.inputs[scales].desc.dims),
                   made.n, made.k);
  return made;
}

// Rows of the weight that are not in the block they lie in: activation order of GPTQ.
result<const std::int32_t*> groups_of(const nbits_product& of, const kernel_args& args) {
  if (!has_data(args, group_index))
    return nullptr;
  const auto* groups = args.inputs[group_index].as<const std::int32_t>();
  for (std::int64_t row = 0; row < of.k; ++row)
    if (groups[row] < 0 || groups[row] >= of.blocks())
      return fail(errc::invalid_argument, "g_idx in [0, {}) expected, {} found for row {}",
                  of.blocks(), groups[row], row);
  return groups;
}

void multiply_column(const nbits_product& of, const kernel_args& args, const std::int32_t* groups,
                     std::int64_t column) {
  const auto* x = args.inputs[a].as<const float>();
  const auto* packed =
      args.inputs[b].as<const std::uint8_t>() + column * of.blocks() * of.block_bytes();
  const auto* scale = args.inputs[scales].as<const float>() + column * of.blocks();
  const auto zeros = args.inputs.size() > zero_points ? args.inputs[zero_points] : tensor_view{};
  auto* y = args.outputs[0].as<float>() + column;
  const float start = has_data(args, bias) ? args.inputs[bias].as<const float>()[column] : 0.0F;
  for (std::int64_t row = 0; row < of.rows; ++row)
    y[row * of.n] = start;
  std::array<float, most_block> weights;
  for (std::int64_t at = 0; at < of.blocks(); ++at) {
    const auto first = at * of.block;
    const auto count = std::min(of.block, of.k - first);
    const auto real = [&](std::int64_t i, float zero, std::int64_t group) {
      const auto stored = static_cast<float>(of.number(packed + at * of.block_bytes(), i));
      weights[static_cast<std::size_t>(i)] = (stored - zero) * scale[group];
    };
    const auto zero = of.zero_point(zeros, column, at);
    for (std::int64_t i = 0; i < count; ++i)
      if (groups == nullptr)
        real(i, zero, at);
      else
        real(i, of.zero_point(zeros, column, groups[first + i]), groups[first + i]);
    for (std::int64_t row = 0; row < of.rows; ++row)
      y[row * of.n] += dot(x + row * of.k + first, weights.data(), count);
  }
}

} // namespace

made_kernel make_matmul_nbits(const kernel_spec& spec, weight_cache&) {
  const auto made = nbits_product_of(spec);
  if (!made)
    return tl::unexpected{made.error()};
  return make_kernel({}, [of = *made, threads = spec.threads](const kernel_args& args) {
    const auto groups = groups_of(of, args);
    if (!groups)
      return result<void>{propagate(groups)};
    parallel_for(threads, of.n, of.k * (of.rows + 2), [&](std::int64_t begin, std::int64_t end) {
      for (auto column = begin; column < end; ++column)
        multiply_column(of, args, *groups, column);
    });
    return result<void>{};
  });
}

} // namespace troupe::cpu
