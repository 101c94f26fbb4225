// Operators of com.microsoft on quantised tensors: dequantised, computed, quantised again, which is
// how they are defined. The product with integers keeps its integers.

#include "runtime/passes/legalize/legalizer.hpp"

#include <array>

namespace troupe::passes {

namespace {

constexpr std::string_view contrib = "com.microsoft";

value_id real(legalizer& to, std::size_t first) {
  return to.add("DequantizeLinear", {to.input(first), to.input(first + 1), to.input(first + 2)});
}

void quantize(legalizer& to, value_id y, value_id scale, value_id zero_point) {
  to.add("QuantizeLinear", {y, scale, zero_point}, {}, to.output(0));
}

// Inputs: A, its scale and zero point, B, its scale and zero point, those of C.
result<bool> binary(legalizer& to, const char* op_type) {
  quantize(to, to.add(op_type, {real(to, 0), real(to, 3)}), to.input(6), to.input(7));
  return true;
}

result<bool> add(legalizer& to, const node&) {
  return binary(to, "Add");
}

result<bool> multiply(legalizer& to, const node&) {
  return binary(to, "Mul");
}

// Inputs: X, its scale and zero point, those of Y.
result<bool> unary(legalizer& to, const char* op_type, attribute_map attributes) {
  quantize(to, to.add(op_type, {real(to, 0)}, std::move(attributes)), to.input(3), to.input(4));
  return true;
}

result<bool> sigmoid(legalizer& to, const node&) {
  return unary(to, "Sigmoid", {});
}

result<bool> leaky_relu(legalizer& to, const node& of) {
  return unary(to, "LeakyRelu", attributes_of({{"alpha", of.attributes.real("alpha", 0.01F)}}));
}

result<bool> softmax(legalizer& to, const node& of) {
  if (of.attributes.integer("opset", 13) < 13)
    return fail(errc::unimplemented, "its form of opsets before 13 is not supported");
  return unary(to, "Softmax", attributes_of({{"axis", of.attributes.integer("axis", -1)}}));
}

result<bool> pool(legalizer& to, const node& of, const char* op_type) {
  auto attributes = of.attributes;
  if (attributes.integer("channels_last", 0) != 0)
    return fail(errc::unimplemented, "channels_last is not supported");
  attributes.erase("channels_last");
  return unary(to, op_type, std::move(attributes));
}

result<bool> average_pool(legalizer& to, const node& of) {
  return pool(to, of, "AveragePool");
}

result<bool> global_average_pool(legalizer& to, const node& of) {
  return pool(to, of, "GlobalAveragePool");
}

// Inputs: scale and zero point of Y, then each part with its own.
result<bool> concat(legalizer& to, const node& of) {
  if (of.inputs.size() % 3 != 2)
    return fail(errc::invalid_argument, "three inputs for each part expected, {} found",
                of.inputs.size() - 2);
  std::vector<value_id> parts;
  for (std::size_t first = 2; first < of.inputs.size(); first += 3)
    parts.push_back(real(to, first));
  const auto axis = of.attributes.integer("axis", 0);
  quantize(to, to.add("Concat", std::move(parts), attributes_of({{"axis", axis}})), to.input(0),
           to.input(1));
  return true;
}

// Inputs: A, its scale and zero point, B, its scale and zero point, a bias in units of both scales,
// those of Y; without the last two Y is real.
result<bool> general_product(legalizer& to, const node& of) {
  const auto alpha = of.attributes.real("alpha", 1.0F);
  const auto turned = of.attributes.integer("transB", 0);
  const auto columns = attributes_of({{"axis", std::int64_t{turned != 0 ? 0 : 1}}});
  std::vector<value_id> operands{
      real(to, 0), to.add("DequantizeLinear", {to.input(3), to.input(4), to.input(5)}, columns)};
  if (to.input(6) != no_value) {
    auto unit = to.add("Mul", {to.input(1), to.input(4)});
    if (alpha != 1.0F)
      unit = to.add("Mul", {unit, to.scalar(alpha, dtype::float32)});
    operands.push_back(to.add("DequantizeLinear", {to.input(6), unit},
                              attributes_of({{"axis", std::int64_t{0}}})));
  }
  const bool is_real = to.input(7) == no_value;
  const auto y = to.add(
      "Gemm", std::move(operands),
      attributes_of(
          {{"alpha", alpha}, {"transA", of.attributes.integer("transA", 0)}, {"transB", turned}}),
      is_real ? to.output(0) : no_value);
  if (!is_real)
    quantize(to, y, to.input(7), to.input(8));
  return true;
}

// QuantizeLinear and DequantizeLinear as ONNX had them later, with 16-bit integers and blocks.
result<bool> as_default(legalizer& to, const node& of) {
  to.add(of.op_type, of.inputs, of.attributes, to.output(0));
  return true;
}

value_id to_float(legalizer& to, value_id of) {
  constexpr std::int64_t onnx_float = 1;
  return to.add("Cast", {of}, attributes_of({{"to", onnx_float}}));
}

// a b scaled, and a bias.
void scaled_product(legalizer& to, std::vector<value_id> factors, value_id a_scale,
                    value_id b_scale, value_id bias) {
  const auto sums = to_float(to, to.add("MatMulInteger", std::move(factors)));
  const auto scale = to.add("Mul", {a_scale, b_scale});
  const auto product = to.add("Mul", {sums, scale}, {}, bias == no_value ? to.output(0) : no_value);
  if (bias != no_value)
    to.add("Add", {product, bias}, {}, to.output(0));
}

// Inputs: A, B, their scales, their zero points, bias.
result<bool> matmul_integer_to_float(legalizer& to, const node&) {
  scaled_product(to, {to.input(0), to.input(1), to.input(4), to.input(5)}, to.input(2), to.input(3),
                 to.input(6));
  return true;
}

// Inputs: A (real), B, its scale and zero point, bias.
result<bool> dynamic_quantize_matmul(legalizer& to, const node& of) {
  node quantizing;
  quantizing.name = of.name + "/DynamicQuantizeLinear";
  quantizing.op_type = "DynamicQuantizeLinear";
  quantizing.version = 11;
  quantizing.inputs = {to.input(0)};
  for (const auto* part : {":quantized", ":scale", ":zero_point"})
    quantizing.outputs.push_back(to.fresh(of.name + part));
  const auto outputs = quantizing.outputs;
  to.add(std::move(quantizing));
  scaled_product(to, {outputs[0], to.input(1), outputs[2], to.input(3)}, outputs[1], to.input(2),
                 to.input(4));
  return true;
}

constexpr std::array entries{
    legalization_entry{contrib, "DequantizeLinear", as_default},
    legalization_entry{contrib, "DynamicQuantizeMatMul", dynamic_quantize_matmul},
    legalization_entry{contrib, "MatMulIntegerToFloat", matmul_integer_to_float},
    legalization_entry{contrib, "QGemm", general_product},
    legalization_entry{contrib, "QLinearAdd", add},
    legalization_entry{contrib, "QLinearAveragePool", average_pool},
    legalization_entry{contrib, "QLinearConcat", concat},
    legalization_entry{contrib, "QLinearGlobalAveragePool", global_average_pool},
    legalization_entry{contrib, "QLinearLeakyRelu", leaky_relu},
    legalization_entry{contrib, "QLinearMul", multiply},
    legalization_entry{contrib, "QLinearSigmoid", sigmoid},
    legalization_entry{contrib, "QLinearSoftmax", softmax},
    legalization_entry{contrib, "QuantizeLinear", as_default},
};

} // namespace

std::span<const legalization_entry> quantized_legalizations() {
  return entries;
}

} // namespace troupe::passes
