// Determinants by elimination with partial pivoting. ONNX: Det-22.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

// Destroys `a`, a matrix of n rows.
double determinant(double* a, std::int64_t n) {
  double product = 1;
  for (std::int64_t column = 0; column < n; ++column) {
    std::int64_t pivot = column;
    for (auto row = column + 1; row < n; ++row)
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column]))
        pivot = row;
    if (a[pivot * n + column] == 0)
      return 0;
    if (pivot != column) {
      std::swap_ranges(a + pivot * n, a + (pivot + 1) * n, a + column * n);
      product = -product;
    }
    product *= a[column * n + column];
    for (auto row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / a[column * n + column];
      for (auto i = column; i < n; ++i)
        a[row * n + i] -= factor * a[column * n + i];
    }
  }
  return product;
}

} // namespace

made_kernel make_reference_det(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2])
    return decline("square matrices expected, {} found", to_string(dims));
  const auto n = dims.back();
  const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
  return make_kernel({.workspace_bytes = bytes},
                     [n, count = spec.outputs[0].elements()](const kernel_args& args) {
                       const auto x = input_numbers(args, 0);
                       const auto y = output_numbers(args, 0);
                       auto* matrix = reinterpret_cast<double*>(args.workspace.data());
                       for (std::int64_t index = 0; index < count; ++index) {
                         for (std::int64_t i = 0; i < n * n; ++i)
                           matrix[i] = x[index * n * n + i];
                         y.set(index, determinant(matrix, n));
                       }
                     });
}

} // namespace troupe::cpu
