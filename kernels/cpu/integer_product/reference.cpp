// Products of 8-bit matrices: sums in INT32, or scaled to 8 bits again. ONNX: MatMulInteger-10,
// QLinearMatMul-10 and 21.

#include "kernels/cpu/integer_product/integer_product.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

namespace {

template <class Store>
void all_tiles(const integer_product& product, const kernel_args& args, int threads,
               const Store& store) {
  parallel_for(threads, product.count() * product.m, product.k * product.n / 8,
               [&](std::int64_t begin, std::int64_t end) {
                 for_each_tile(product, args, begin, end, store);
               });
}

// Inputs of QLinearMatMul.
enum qlinear : std::size_t { a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero };

} // namespace

made_kernel make_reference_matmul_integer(const kernel_spec& spec, weight_cache&) {
  auto product = integer_product_of(spec, 0, 1, 2, 3);
  if (!product)
    return tl::unexpected{std::move(product).error()};
  return make_kernel(
      {}, [product = *std::move(product), threads = spec.threads](const kernel_args& args) {
        auto* y = args.outputs[0].as<std::int32_t>();
        all_tiles(product, args, threads,
                  [&](std::int64_t row, integer_product::pair, std::int64_t, std::int64_t column,
                      std::span<const std::int32_t> sums) {
                    std::copy(sums.begin(), sums.end(), y + row * product.n + column);
                  });
      });
}

made_kernel make_reference_qlinear_matmul(const kernel_spec& spec, weight_cache&) {
  auto product = integer_product_of(spec, a, b, a_zero, b_zero);
  if (!product)
    return tl::unexpected{std::move(product).error()};
  for (const auto scale : {a_scale, b_scale, y_scale})
    if (!visit_real(spec.inputs[scale].desc.type, [](auto) {}))
      return decline("scale of {}", to_string(spec.inputs[scale].desc.type));
  const auto of_rows =
      parameter_places_of(spec.inputs[a_scale].desc.elements(), product->a_matrices, product->m);
  const auto of_columns =
      parameter_places_of(spec.inputs[b_scale].desc.elements(), product->b_matrices, product->n);
  if (!of_rows || !of_columns)
    return tl::unexpected{of_rows ? of_columns.error() : of_rows.error()};
  if (spec.inputs[y_scale].desc.elements() != 1
      || (has_input(spec, y_zero) && spec.inputs[y_zero].desc.elements() != 1))
    return decline("the result's scale and zero point are {} and {}, one number each expected",
                   to_string(spec.inputs[y_scale].desc.dims),
                   to_string(spec.inputs[y_zero].desc.dims));
  made_kernel made = decline("result of {}", to_string(spec.outputs[0].type));
  visit_byte(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    made = make_kernel({}, [product = *std::move(product), of_rows = *of_rows,
                            of_columns = *of_columns,
                            threads = spec.threads](const kernel_args& args) {
      auto* y = args.outputs[0].as<element>();
      const auto zero = static_cast<float>(integer_at(args.inputs[y_zero], 0));
      const auto out_scale = real_at(args.inputs[y_scale], 0);
      all_tiles(product, args, threads,
                [&](std::int64_t row, integer_product::pair of, std::int64_t in_matrix,
                    std::int64_t column, std::span<const std::int32_t> sums) {
                  auto* to = y + row * product.n + column;
                  const auto left = real_at(args.inputs[a_scale], of_rows.at(of.a, in_matrix));
                  for (std::size_t j = 0; j < sums.size(); ++j) {
                    const auto place = of_columns.at(of.b, column + static_cast<std::int64_t>(j));
                    const auto scale = left * real_at(args.inputs[b_scale], place) / out_scale;
                    to[j] = quantized<element>(static_cast<float>(sums[j]) * scale, zero);
                  }
                });
    });
  });
  return made;
}

} // namespace troupe::cpu
