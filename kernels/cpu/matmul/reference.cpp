// Matrix product with numpy's rules for vectors and leading axes, and Gemm. ONNX: MatMul-13,
// Gemm-13.

#include "kernels/cpu/cast/convert.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <array>

namespace troupe::cpu {

namespace {

struct product {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t a_row = 0, a_column = 0; ///< strides of A [m, k]
  std::int64_t b_row = 0, b_column = 0; ///< strides of B [k, n]
};

// Floats add up in double; integers wrap.
template <class T>
struct sum_of {
  using type = double;
};
template <class T>
requires std::is_integral_v<T>
struct sum_of<T> {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};

// `store(row, column, sum)` for every element of the product.
template <class T, class Store>
void multiply(const product& of, const T* a, const T* b, const Store& store) {
  using number = computed<T>;
  using sum_type = typename sum_of<T>::type;
  for (std::int64_t i = 0; i < of.m; ++i)
    for (std::int64_t j = 0; j < of.n; ++j) {
      sum_type sum = 0;
      for (std::int64_t k = 0; k < of.k; ++k)
        sum += static_cast<sum_type>(static_cast<number>(a[i * of.a_row + k * of.a_column]))
               * static_cast<sum_type>(static_cast<number>(b[k * of.b_row + j * of.b_column]));
      store(i, j, sum);
    }
}

// alpha * sum, of integers exactly where alpha is 1.
template <class T>
T scaled(T value, float factor) {
  if constexpr (std::is_integral_v<T>)
    return factor == 1.0F ? value
                          : convert<T>(static_cast<double>(value) * static_cast<double>(factor));
  else
    return value * static_cast<T>(factor);
}

} // namespace

made_kernel make_reference_matmul(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto a = spec.inputs[0].desc.dims;
  auto b = spec.inputs[1].desc.dims;
  if (a.empty() || b.empty())
    return decline("a scalar is no matrix");
  if (spec.inputs[0].desc.type != spec.inputs[1].desc.type)
    return decline("inputs differ in datatype");
  if (a.size() == 1)
    a.insert(a.begin(), 1);
  if (b.size() == 1)
    b.push_back(1);
  product of{a[a.size() - 2], b.back(), a.back(), a.back(), 1, b.back(), 1};
  if (b[b.size() - 2] != of.k)
    return decline("{} and {} do not multiply", to_string(a), to_string(b));
  // The leading axes are an element-wise iteration over whole matrices.
  tensor_desc batch_a{dtype::float32, {a.begin(), a.end() - 2}};
  tensor_desc batch_b{dtype::float32, {b.begin(), b.end() - 2}};
  const auto rank = std::max(batch_a.dims.size(), batch_b.dims.size());
  tensor_desc batch{dtype::float32, shape(rank, 1)};
  for (const auto* from : {&batch_a.dims, &batch_b.dims})
    for (std::size_t i = 0; i < from->size(); ++i)
      if ((*from)[i] != 1)
        batch.dims[rank - from->size() + i] = (*from)[i];
  const std::array operands{batch_a, batch_b};
  auto loops = iterate(batch, operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [of, loops = *std::move(loops)](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      const auto* y = args.inputs[1].as<const element>();
      auto* to = args.outputs[0].as<element>();
      for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
        for (std::int64_t i = 0; i < loops.inner(); ++i) {
          const auto matrix_a = offsets[0] + i * loops.strides[0].back();
          const auto matrix_b = offsets[1] + i * loops.strides[1].back();
          auto* matrix = to + (row * loops.inner() + i) * of.m * of.n;
          multiply(of, x + matrix_a * of.m * of.k, y + matrix_b * of.k * of.n,
                   [&](std::int64_t at, std::int64_t column, auto sum) {
                     matrix[at * of.n + column] = convert<element>(sum);
                   });
        }
      });
    });
  });
}

made_kernel make_reference_gemm(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  for (const auto& input : spec.inputs)
    if (input.present && input.desc.type != spec.inputs[0].desc.type)
      return decline("inputs differ in datatype");
  const auto& a = spec.inputs[0].desc.dims;
  const auto& b = spec.inputs[1].desc.dims;
  if (a.size() != 2 || b.size() != 2)
    return decline("expected two matrices, found {} and {}", to_string(a), to_string(b));
  const bool a_turned = spec.attributes->integer("transA", 0) != 0;
  const bool b_turned = spec.attributes->integer("transB", 0) != 0;
  product of{a[a_turned ? 1 : 0], b[b_turned ? 0 : 1], a[a_turned ? 0 : 1]};
  if (b[b_turned ? 1 : 0] != of.k)
    return decline("{} and {} do not multiply", to_string(a), to_string(b));
  of.a_row = a_turned ? 1 : of.k;
  of.a_column = a_turned ? of.m : 1;
  of.b_row = b_turned ? 1 : of.n;
  of.b_column = b_turned ? of.k : 1;
  iteration addend{{of.m, of.n}, {{0, 0}}};
  if (has_input(spec, 2)) {
    const auto& c = spec.inputs[2].desc.dims;
    if (c.size() > 2)
      return decline("addend {} does not broadcast", to_string(c));
    // Kept as two loops: rows and columns of the result.
    const auto columns = c.empty() ? 1 : c.back();
    const auto rows = c.size() == 2 ? c[0] : 1;
    addend.strides[0] = {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
  }
  const float alpha = spec.attributes->real("alpha", 1.0F);
  const float beta = spec.attributes->real("beta", 1.0F);
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [of, addend, alpha, beta](const kernel_args& args) {
      // Halves and floats are scaled and added as doubles, integers as themselves.
      using number = std::conditional_t<std::is_integral_v<element>, element, double>;
      auto* y = args.outputs[0].as<element>();
      const auto* c = has_data(args, 2) ? args.inputs[2].as<const element>() : nullptr;
      const auto& strides = addend.strides[0];
      multiply(of, args.inputs[0].as<const element>(), args.inputs[1].as<const element>(),
               [&](std::int64_t i, std::int64_t j, auto sum) {
                 number value = scaled(static_cast<number>(sum), alpha);
                 if (c != nullptr)
                   value = static_cast<number>(
                       value
                       + scaled(static_cast<number>(static_cast<computed<element>>(
                                    c[i * strides[0] + j * strides[1]])),
                                beta));
                 y[i * of.n + j] = convert<element>(value);
               });
    });
  });
}

} // namespace troupe::cpu
