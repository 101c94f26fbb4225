#include "kernels/cpu/integer_product/integer_product.hpp"

#include "kernels/cpu/quantize/quantize.hpp"

#include <array>

namespace troupe::cpu {

namespace {

template <class A, class B>
void sum_tile(const A* a, const B* b, std::int64_t k, std::int64_t n, std::int32_t a_zero,
              std::int64_t width, std::int32_t* sums, std::int32_t& a_sum) {
  for (std::int64_t at = 0; at < k; ++at) {
    // At most 9 bits and a sign: the product of two 16-bit numbers is the fast one.
    const auto factor = static_cast<std::int16_t>(a[at] - a_zero);
    const B* row = b + at * n;
    a_sum += factor;
    for (std::int64_t j = 0; j < width; ++j)
      sums[j] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(sums[j])
          + static_cast<std::uint32_t>(factor * static_cast<std::int16_t>(row[j])));
  }
}

} // namespace

tl::expected<parameter_places, std::string>
parameter_places_of(std::int64_t count, std::int64_t matrices, std::int64_t length) {
  if (count == 1)
    return parameter_places{};
  if (count == length)
    return parameter_places{0, 1};
  if (count == matrices * length)
    return parameter_places{length, 1};
  return decline("{} zero points or scales for {} matrices with {} rows or columns", count,
                 matrices, length);
}

integer_product::pair integer_product::matrices_of(std::int64_t index) const {
  pair found{};
  for_each_row(stacks, index / stacks.inner(), index / stacks.inner() + 1,
               [&](std::int64_t, std::span<const std::int64_t> offsets) {
                 const auto inner = index % stacks.inner();
                 found = {offsets[0] + inner * stacks.strides[0].back(),
                          offsets[1] + inner * stacks.strides[1].back()};
               });
  return found;
}

tl::expected<integer_product, std::string> integer_product_of(const kernel_spec& spec,
                                                              std::size_t a, std::size_t b,
                                                              std::size_t a_zero,
                                                              std::size_t b_zero) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  for (const auto input : {a, b})
    if (!visit_byte(spec.inputs[input].desc.type, [](auto) {}))
      return decline("input {} is {}, not INT8 or UINT8", input,
                     to_string(spec.inputs[input].desc.type));
  auto left = spec.inputs[a].desc.dims;
  auto right = spec.inputs[b].desc.dims;
  if (left.empty() || right.empty())
    return decline("a scalar is no matrix");
  if (left.size() == 1)
    left.insert(left.begin(), 1);
  if (right.size() == 1)
    right.push_back(1);
  integer_product made;
  made.m = left[left.size() - 2];
  made.k = left.back();
  made.n = right.back();
  if (right[right.size() - 2] != made.k)
    return decline("{} and {} do not multiply", to_string(left), to_string(right));
  const tensor_desc left_stack{dtype::uint8, {left.begin(), left.end() - 2}};
  const tensor_desc right_stack{dtype::uint8, {right.begin(), right.end() - 2}};
  const auto rank = std::max(left_stack.dims.size(), right_stack.dims.size());
  tensor_desc stack{dtype::uint8, shape(rank, 1)};
  for (const auto* from : {&left_stack.dims, &right_stack.dims})
    for (std::size_t i = 0; i < from->size(); ++i)
      if ((*from)[i] != 1)
        stack.dims[rank - from->size() + i] = (*from)[i];
  auto loops = iterate(stack, std::array{left_stack, right_stack});
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  made.stacks = *std::move(loops);
  made.a_matrices = left_stack.elements();
  made.b_matrices = right_stack.elements();
  made.a = a;
  made.b = b;
  made.a_zero = a_zero;
  made.b_zero = b_zero;
  const auto places = [&](std::size_t input, std::size_t of, std::int64_t matrices,
                          std::int64_t length) -> tl::expected<parameter_places, std::string> {
    if (!has_input(spec, input))
      return parameter_places{};
    if (spec.inputs[input].desc.type != spec.inputs[of].desc.type)
      return decline("zero point of {} for {}", to_string(spec.inputs[input].desc.type),
                     to_string(spec.inputs[of].desc.type));
    return parameter_places_of(spec.inputs[input].desc.elements(), matrices, length);
  };
  const auto a_places = places(a_zero, a, made.a_matrices, made.m);
  const auto b_places = places(b_zero, b, made.b_matrices, made.n);
  if (!a_places || !b_places)
    return tl::unexpected{a_places ? b_places.error() : a_places.error()};
  made.a_zero_places = *a_places;
  made.b_zero_places = *b_places;
  return made;
}

void integer_tile(const integer_product& product, const kernel_args& args, integer_product::pair of,
                  std::int64_t row, std::int64_t column, std::int64_t width, std::int32_t* sums) {
  const auto zero = [&](std::size_t input, const parameter_places& places, std::int64_t matrix,
                        std::int64_t index) {
    return has_data(args, input) ? integer_at(args.inputs[input], places.at(matrix, index)) : 0;
  };
  const auto a_zero = zero(product.a_zero, product.a_zero_places, of.a, row);
  std::int32_t a_sum = 0;
  std::fill_n(sums, width, 0);
  const auto& a = args.inputs[product.a];
  const auto& b = args.inputs[product.b];
  visit_byte(a.desc.type, [&](auto a_tag) {
    visit_byte(b.desc.type, [&](auto b_tag) {
      using a_type = typename decltype(a_tag)::type;
      using b_type = typename decltype(b_tag)::type;
      sum_tile(a.as<const a_type>() + (of.a * product.m + row) * product.k,
               b.as<const b_type>() + of.b * product.k * product.n + column, product.k, product.n,
               a_zero, width, sums, a_sum);
    });
  });
  // sum a (b - zero) = sum a b - zero sum a
  if (!has_data(args, product.b_zero))
    return;
  for (std::int64_t j = 0; j < width; ++j) {
    const auto b_zero = zero(product.b_zero, product.b_zero_places, of.b, column + j);
    sums[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[j])
                                        - static_cast<std::uint32_t>(b_zero)
                                              * static_cast<std::uint32_t>(a_sum));
  }
}

} // namespace troupe::cpu
