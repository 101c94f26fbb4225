// Operators of quantised models.

#include "runtime/graph/infer/product.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <array>

namespace troupe::graph {

namespace {

result<std::optional<dtype>> declared_type(const inference& at) {
  const auto declared = at.attributes().integer("output_dtype", 0);
  if (declared == 0)
    return std::nullopt;
  const auto type = dtype_of_onnx(static_cast<int>(declared));
  if (!type)
    return fail(type.error().code, "output_dtype: {}", type.error().text);
  return std::optional{*type};
}

result<void> set_like_input(inference& at, std::optional<dtype> type) {
  const auto* dims = at.dims(0);
  at.set(0, type, dims ? std::optional{*dims} : std::nullopt);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
result<void> infer_quantize(inference& at) {
  const auto declared = declared_type(at);
  if (!declared)
    return propagate(declared);
  if (!at.has(2))
    return set_like_input(at, declared->value_or(dtype::uint8));
  if (*declared && at.type(2) && **declared != *at.type(2))
    return fail(errc::invalid_argument, "zero point of {} expected by output_dtype, {} found",
                to_string(**declared), to_string(*at.type(2)));
  return set_like_input(at, at.type(2) ? at.type(2) : *declared);
}

// https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
result<void> infer_dequantize(inference& at) {
  const auto declared = declared_type(at);
  if (!declared)
    return propagate(declared);
  if (auto good = at.has(2) ? at.same_type(2) : result<void>{}; !good)
    return good;
  return set_like_input(at, *declared ? *declared : at.type(1));
}

// https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html
result<void> infer_dynamic_quantize(inference& at) {
  if (at.type(0) && *at.type(0) != dtype::float32)
    return fail(errc::invalid_argument, "input 0 of FP32 expected, {} found",
                to_string(*at.type(0)));
  at.set(1, dtype::float32, symbolic_shape{});
  at.set(2, dtype::uint8, symbolic_shape{});
  return set_like_input(at, dtype::uint8);
}

// https://onnx.ai/onnx/operators/onnx__MatMulInteger.html
result<void> infer_matmul_integer(inference& at) {
  auto dims = matmul_dims(at, 0, 1);
  if (!dims)
    return propagate(dims);
  at.set(0, dtype::int32, *std::move(dims));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html
result<void> infer_qlinear_matmul(inference& at) {
  auto dims = matmul_dims(at, 0, 3);
  if (!dims)
    return propagate(dims);
  at.set(0, at.type(7), *std::move(dims));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__ConvInteger.html
result<void> infer_conv_integer(inference& at) {
  auto dims = conv_dims(at, 0, 1, any_number);
  if (!dims)
    return propagate(dims);
  at.set(0, dtype::int32, *std::move(dims));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__QLinearConv.html
result<void> infer_qlinear_conv(inference& at) {
  auto dims = conv_dims(at, 0, 3, 8);
  if (!dims)
    return propagate(dims);
  at.set(0, at.type(7), *std::move(dims));
  return {};
}

// a + b, quantised: fold_qdq_sums makes it.
result<void> infer_qlinear_add(inference& at) {
  const auto* dims = at.dims(0);
  at.set(0, at.type(7), dims ? std::optional{*dims} : std::nullopt);
  return {};
}

// x [rows, inner] by w [columns, inner]: fold_qdq_products makes it.
result<void> infer_qlinear_gemm(inference& at) {
  const auto* x = at.dims(0);
  const auto* w = at.dims(3);
  if (x == nullptr || w == nullptr) {
    at.set(0, at.type(7), at.unknown(2));
    return {};
  }
  for (const std::size_t input : {0U, 3U})
    if (auto good = at.expect_rank(input, 2); !good)
      return good;
  if (auto good = at.expect_size(3, 1, (*x)[1]); !good)
    return good;
  at.set(0, at.type(7), symbolic_shape{(*x)[0], (*w)[0]});
  return {};
}

constexpr std::array rules{
    infer_entry{"ConvInteger", 2, 4, 1, infer_conv_integer},
    infer_entry{"DequantizeLinear", 2, 3, 1, infer_dequantize},
    infer_entry{"DynamicQuantizeLinear", 1, 1, 3, infer_dynamic_quantize},
    infer_entry{"MatMulInteger", 2, 4, 1, infer_matmul_integer},
    infer_entry{"QLinearConv", 8, 9, 1, infer_qlinear_conv},
    infer_entry{"QLinearMatMul", 8, 8, 1, infer_qlinear_matmul},
    infer_entry{"QuantizeLinear", 2, 3, 1, infer_quantize},
    infer_entry{"QLinearAdd", 8, 8, 1, infer_qlinear_add, "troupe"},
    infer_entry{"QLinearGemm", 8, 9, 1, infer_qlinear_gemm, "troupe"},
};

} // namespace

std::span<const infer_entry> quantization_rules() {
  return rules;
}

} // namespace troupe::graph
