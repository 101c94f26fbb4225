// A convolution or Gemm between DequantizeLinear and QuantizeLinear, with a Relu or Clip in between
// or none, becomes QLinearConv, or "QLinearGemm" of the domain "troupe": the sum of products of
// integers, scaled once. It is what they mean, rounded once less. Only where the device multiplies
// bytes faster than real numbers, and only by weights that stay constant and have no zero points;
// everything else is left to float32, whose weights fold_constants dequantises beforehand.

#include "runtime/passes/pass.hpp"

#include "kernels/cpu/quantized_kernels.hpp"
#include "runtime/passes/qdq.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::passes {

namespace {

template <class T>
std::shared_ptr<const tensor> tensor_of(dtype type, shape dims, std::span<const T> content) {
  auto made = std::make_shared<tensor>();
  made->type = type;
  made->dims = std::move(dims);
  made->data = copy_of(std::as_bytes(content));
  return made;
}

/// Weights of INT8 with output channels in axis 0, and a scale for all or one for each of them.
struct byte_weights {
  std::shared_ptr<const tensor> numbers;
  value_id same = no_value; ///< the value that holds the numbers already, if any does
  value_id scale = no_value;
  std::vector<double> scales; ///< one for each channel
};

// UINT8 around 128 is INT8 around 0.
std::optional<std::vector<std::int8_t>> signed_numbers(const tensor& of, const tensor& zero) {
  std::vector<std::int8_t> made;
  const auto centred = [&](auto numbers, auto zeros, int centre) {
    if (std::ranges::any_of(zeros, [&](auto point) { return point != centre; }))
      return false;
    for (const auto number : numbers)
      made.push_back(static_cast<std::int8_t>(number - centre));
    return true;
  };
  const bool centres =
      of.type == dtype::int8
          ? centred(elements_of<std::int8_t>(of.data), elements_of<std::int8_t>(zero.data), 0)
          : centred(elements_of<std::uint8_t>(of.data), elements_of<std::uint8_t>(zero.data), 128);
  return centres ? std::optional{std::move(made)} : std::nullopt;
}

// From [rows, columns] to [columns, rows].
std::vector<std::int8_t> transposed(std::span<const std::int8_t> of, std::int64_t rows,
                                    std::int64_t columns) {
  std::vector<std::int8_t> made;
  made.reserve(of.size());
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row)
      made.push_back(of[static_cast<std::size_t>(row * columns + column)]);
  return made;
}

// What a DequantizeLinear makes of constant bytes whose output channels are in `axis`.
std::optional<byte_weights> weights_of(const rewriter& in, value_id of, std::size_t axis) {
  const auto& on = in.on();
  const auto* made = in.plain_producer(of, "DequantizeLinear");
  if (made == nullptr || made->inputs.size() != 3 || made->attributes.integer("block_size", 0) != 0)
    return std::nullopt;
  for (const auto input : made->inputs)
    if (!on.is_constant(input))
      return std::nullopt;
  const auto& numbers = on.values[made->inputs[0]].constant;
  const auto& scale = *on.values[made->inputs[1]].constant;
  const auto& zero = *on.values[made->inputs[2]].constant;
  const auto rank = static_cast<std::int64_t>(numbers->dims.size());
  if ((numbers->type != dtype::int8 && numbers->type != dtype::uint8) || numbers->type != zero.type
      || scale.type != dtype::float32 || rank < 2)
    return std::nullopt;
  const auto channels = numbers->dims[axis];
  const auto count = element_count(scale.dims);
  const auto declared = made->attributes.integer("axis", 1);
  const bool along = (declared < 0 ? declared + rank : declared) == static_cast<std::int64_t>(axis);
  if (count != element_count(zero.dims) || (count != 1 && (count != channels || !along)))
    return std::nullopt;
  auto content = signed_numbers(*numbers, zero);
  if (!content)
    return std::nullopt;
  byte_weights found;
  found.scale = made->inputs[1];
  for (std::int64_t channel = 0; channel < channels; ++channel)
    found.scales.push_back(
        elements_of<float>(scale.data)[count == 1 ? 0 : static_cast<std::size_t>(channel)]);
  if (std::ranges::any_of(found.scales, [](double by) { return !(by > 0 && std::isfinite(by)); }))
    return std::nullopt;
  if (axis == 0 && numbers->type == dtype::int8) {
    found.numbers = numbers;
    found.same = made->inputs[0];
    return found;
  }
  auto dims = numbers->dims;
  if (axis != 0) {
    *content = transposed(*content, dims[0], dims[1]);
    std::swap(dims[0], dims[1]);
  }
  found.numbers = tensor_of<std::int8_t>(dtype::int8, dims, *content);
  return found;
}

// The numbers of a constant of FP32, or of the product of two of which one may be a single number.
std::optional<std::vector<float>> constant_scale(const rewriter& in, value_id of) {
  const auto& on = in.on();
  const auto numbers = [&](value_id value) -> std::optional<std::vector<float>> {
    if (!on.is_constant(value) || on.values[value].constant->type != dtype::float32)
      return std::nullopt;
    const auto content = elements_of<float>(on.values[value].constant->data);
    return std::vector<float>{content.begin(), content.end()};
  };
  const auto* product = in.plain_producer(of, "Mul");
  if (product == nullptr)
    return numbers(of);
  auto left = numbers(product->inputs[0]);
  auto right = numbers(product->inputs[1]);
  if (!left || !right || (left->size() != 1 && right->size() != 1))
    return std::nullopt;
  if (left->size() == 1)
    std::swap(left, right);
  for (auto& number : *left)
    number *= right->front();
  return left;
}

// The numbers of a constant of FP32, or of INT32 behind a DequantizeLinear without zero points.
std::optional<std::vector<double>> constant_bias(const rewriter& in, value_id of,
                                                 std::size_t channels) {
  const auto& on = in.on();
  std::vector<double> made;
  if (on.is_constant(of)) {
    const auto& content = *on.values[of].constant;
    if (content.type != dtype::float32)
      return std::nullopt;
    const auto numbers = elements_of<float>(content.data);
    made.assign(numbers.begin(), numbers.end());
  } else {
    const auto* scaled = in.plain_producer(of, "DequantizeLinear");
    if (scaled == nullptr || !on.is_constant(scaled->inputs[0]))
      return std::nullopt;
    const auto& numbers = *on.values[scaled->inputs[0]].constant;
    const auto scale = constant_scale(in, scaled->inputs[1]);
    if (numbers.type != dtype::int32 || !scale || (scale->size() != 1 && scale->size() != channels)
        || static_cast<std::size_t>(element_count(numbers.dims)) != channels)
      return std::nullopt;
    if (scaled->inputs.size() > 2) {
      const auto* zero =
          on.is_constant(scaled->inputs[2]) ? on.values[scaled->inputs[2]].constant.get() : nullptr;
      if (zero == nullptr || zero->type != dtype::int32
          || std::ranges::any_of(elements_of<std::int32_t>(zero->data),
                                 [](std::int32_t point) { return point != 0; }))
        return std::nullopt;
    }
    for (std::size_t i = 0; i < channels; ++i)
      made.push_back(double{(*scale)[scale->size() == 1 ? 0 : i]}
                     * elements_of<std::int32_t>(numbers.data)[i]);
  }
  if (made.size() == 1 && channels > 1)
    made.assign(channels, made.front());
  return made.size() == channels ? std::optional{std::move(made)} : std::nullopt;
}

// A bias in units of the sums of products.
std::optional<std::vector<std::int32_t>>
whole_bias(std::span<const double> bias, double input_scale, std::span<const double> scales) {
  constexpr double most = 1 << 30; // with room for the sums
  std::vector<std::int32_t> made;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const auto units = std::nearbyint(bias[i] / (input_scale * scales[i]));
    if (!(std::abs(units) <= most))
      return std::nullopt;
    made.push_back(static_cast<std::int32_t>(units));
  }
  return made;
}

bool is_plain_gemm(const node& of) {
  return of.attributes.integer("transA", 0) == 0 && of.attributes.real("alpha", 1.0F) == 1.0F
         && of.attributes.real("beta", 1.0F) == 1.0F;
}

std::optional<node> byte_product(rewriter& edit, const node& quantizing) {
  const auto result = quantized(edit, quantizing);
  const auto* product = result ? edit.plain_producer(result->real) : nullptr;
  if (product == nullptr || (product->op_type != "Conv" && product->op_type != "Gemm"))
    return std::nullopt;
  const bool is_conv = product->op_type == "Conv";
  const auto& input_dims = edit.on().values[product->inputs[0]].dims;
  const bool fits = is_conv ? input_dims && (input_dims->size() == 3 || input_dims->size() == 4)
                            : is_plain_gemm(*product);
  const auto input = dequantized(edit, product->inputs[0]);
  if (!fits || !input)
    return std::nullopt;
  const bool columns_last = !is_conv && product->attributes.integer("transB", 0) == 0;
  const auto weights = weights_of(edit, product->inputs[1], columns_last ? 1 : 0);
  if (!weights)
    return std::nullopt;
  std::optional<std::vector<std::int32_t>> bias;
  if (product->inputs.size() > 2 && product->inputs[2] != no_value) {
    const auto real = constant_bias(edit, product->inputs[2], weights->scales.size());
    if (!real)
      return std::nullopt;
    bias = whole_bias(*real, input->means.by, weights->scales);
    if (!bias)
      return std::nullopt;
  }
  node made;
  made.name = product->name;
  made.domain = is_conv ? "" : "troupe";
  made.op_type = is_conv ? "QLinearConv" : "QLinearGemm";
  made.version = is_conv ? 10 : 1;
  if (is_conv)
    made.attributes = product->attributes;
  const auto numbers = weights->same != no_value
                           ? weights->same
                           : edit.add_constant(made.name + ":weights", weights->numbers);
  constexpr std::array<std::int8_t, 1> no_zero{0};
  const auto zero =
      edit.add_constant(made.name + ":zero", tensor_of<std::int8_t>(dtype::int8, {}, no_zero));
  made.inputs = {
      input->bytes, input->means.scale,  input->means.zero_point, numbers, weights->scale,
      zero,         result->means.scale, result->means.zero_point};
  if (bias)
    made.inputs.push_back(edit.add_constant(
        made.name + ":bias", tensor_of<std::int32_t>(dtype::int32, {std::ssize(*bias)}, *bias)));
  set_bounds(made.attributes, *result);
  return made;
}

} // namespace

result<std::size_t> fold_qdq_products(graph::graph& on, const pass_context& with) {
  if (with.on == nullptr || !cpu::multiplies_bytes_fast())
    return 0;
  rewriter edit{on};
  return replace_quantizing(edit, [&](const node& of) { return byte_product(edit, of); });
}

} // namespace troupe::passes
