// MatMul and Gemm as oneDNN matrix products.

#include "kernels/cpu/matmul/operands.hpp"
#include "kernels/cpu/matmul/product_onednn.hpp"
#include "kernels/cpu/onednn_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {
namespace {

using namespace onednn;
using sizes = dnnl::memory::dims;

sizes leading(const tensor_desc& desc) {
  const auto count = desc.dims.size() > 2 ? desc.dims.size() - 2 : 0;
  return {desc.dims.begin(), desc.dims.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::int64_t product_of(const sizes& axes) {
  return element_count({axes.data(), axes.size()});
}

memory_desc row_major(sizes batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  const auto strides = row_major_strides({batch.data(), batch.size()});
  return strided(batch, sizes{strides.begin(), strides.end()});
}

// Leading axes become one batch where both sides agree, or rows where the right side has none.
void set_shapes(product& wanted, const tensor_desc& left, const tensor_desc& right) {
  const auto rows = left.dims.size() > 1 ? left.dims[left.dims.size() - 2] : 1;
  const auto inner = left.dims.back();
  const auto columns = right.dims.size() > 1 ? right.dims.back() : 1;
  auto left_batch = leading(left);
  auto right_batch = leading(right);
  if (product_of(right_batch) == 1) {
    const auto all_rows = product_of(left_batch) * rows;
    wanted.left = row_major({}, all_rows, inner);
    wanted.right = row_major({}, inner, columns);
    wanted.out = row_major({}, all_rows, columns);
    return;
  }
  if (left_batch == right_batch) {
    const auto batch = product_of(left_batch);
    wanted.left = row_major({batch}, rows, inner);
    wanted.right = row_major({batch}, inner, columns);
    wanted.out = row_major({batch}, rows, columns);
    return;
  }
  const auto rank = std::max(left_batch.size(), right_batch.size());
  left_batch.insert(left_batch.begin(), rank - left_batch.size(), 1);
  right_batch.insert(right_batch.begin(), rank - right_batch.size(), 1);
  sizes batch(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    batch[axis] = std::max(left_batch[axis], right_batch[axis]);
  wanted.left = row_major(left_batch, rows, inner);
  wanted.right = row_major(right_batch, inner, columns);
  wanted.out = row_major(batch, rows, columns);
}

} // namespace

made_kernel make_onednn_matmul(const kernel_spec& spec, weight_cache& weights) {
  if (auto reason = unsupported_product(spec); !reason.empty())
    return tl::unexpected{std::move(reason)};
  const auto& left = spec.inputs[0].desc;
  const auto& right = spec.inputs[1].desc;
  if (left.dims.empty() || right.dims.empty() || left.dims.size() > 8 || right.dims.size() > 8)
    return decline("only 1 to 8 axes, found {} and {}", left.dims.size(), right.dims.size());
  product wanted;
  set_shapes(wanted, left, right);
  wanted.constant = spec.inputs[1].constant;
  return make_product(spec, weights, std::move(wanted), true);
}

// Y = alpha * A' * B' + beta * C (Gemm, operator set 1 to 13).
made_kernel make_onednn_gemm(const kernel_spec& spec, weight_cache& weights) {
  if (auto reason = unsupported_product(spec); !reason.empty())
    return tl::unexpected{std::move(reason)};
  const auto& left = spec.inputs[0].desc;
  const auto& right = spec.inputs[1].desc;
  if (left.dims.size() != 2 || right.dims.size() != 2)
    return decline("only matrices");
  const auto transposed = [](const tensor_desc& desc, bool swap) {
    const auto rows = desc.dims[0];
    const auto columns = desc.dims[1];
    return swap ? dense({columns, rows}, format::ba) : dense({rows, columns}, format::ab);
  };
  product wanted;
  wanted.left = transposed(left, spec.attributes->integer("transA", 0) != 0);
  wanted.right = transposed(right, spec.attributes->integer("transB", 0) != 0);
  wanted.out = dense({spec.outputs[0].dims[0], spec.outputs[0].dims[1]}, format::ab);
  wanted.constant = spec.inputs[1].constant;

  const float alpha = spec.attributes->real("alpha", 1.0F);
  const float beta = spec.attributes->real("beta", 1.0F);
  bool has_addend = spec.inputs.size() > 2 && spec.inputs[2].present && beta != 0.0F;
  for (const auto& step : spec.post_ops)
    if ((step.kind == post_op_kind::add || step.kind == post_op_kind::multiply)
        && step.operand == 2)
      has_addend = false; // the third input is a post-op's
  if (!has_addend) {
    if (alpha != 1.0F)
      append_linear(wanted.first, alpha, 0.0F);
    return make_product(spec, weights, std::move(wanted), true);
  }
  const auto& addend = spec.inputs[2].desc;
  if (addend.type != dtype::float32 || !lies_row_major(addend))
    return decline("C is not FP32 in row-major order");
  const auto desc = beside_columns(addend, spec.outputs[0], wanted.out);
  if (!desc)
    return tl::unexpected{desc.error()};
  if (alpha == 1.0F && beta == 1.0F && desc->dims()[0] == 1
      && desc->dims()[1] == wanted.out.dims()[1]) {
    wanted.bias = binding{DNNL_ARG_BIAS, *desc, binding::source::input, 2};
    return make_product(spec, weights, std::move(wanted), true);
  }
  if (alpha != beta)
    append_linear(wanted.first, alpha / beta, 0.0F);
  wanted.first_operands.push_back(
      {DNNL_ARG_ATTR_MULTIPLE_POST_OP(wanted.first.len()) | DNNL_ARG_SRC_1, *desc,
       binding::source::input, 2});
  wanted.first.append_binary(dnnl::algorithm::binary_add, *desc);
  if (beta != 1.0F)
    append_linear(wanted.first, beta, 0.0F);
  return make_product(spec, weights, std::move(wanted), true);
}

} // namespace troupe::cpu
