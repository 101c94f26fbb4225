// What becomes of operators between DequantizeLinear and QuantizeLinear: the graph before and after
// in outline, and results that differ by one step of the output's scale at most.

#include "kernels/cpu/quantized_kernels.hpp"
#include "kernels/op/byte_bounds.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "tests/runtime/passes/cpu_device.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace troupe;
using namespace troupe::test;

namespace {

template <class T>
constant_ptr numbers(dtype type, shape dims, const std::vector<T>& content) {
  return std::make_shared<const tensor>(
      tensor{type, std::move(dims), copy_of(std::as_bytes(std::span{content}))});
}

constant_ptr signed_noise(shape dims) {
  std::vector<std::int8_t> content(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
  return numbers(dtype::int8, std::move(dims), content);
}

struct scaling {
  graph::value_id scale;
  graph::value_id zero_point;
};

/// Builds quantised graphs; every tensor is UINT8.
class quantised_kit {
public:
  graph_kit kit;

  scaling by(float scale, std::uint8_t zero_point) {
    return {kit.scalar(scale),
            kit.constant(numbers(dtype::uint8, {}, std::vector<std::uint8_t>{zero_point}))};
  }
  graph::value_id quantised(graph::value_id x, const scaling& of) {
    return kit.node("QuantizeLinear", {x, of.scale, of.zero_point});
  }
  graph::value_id real(graph::value_id x, const scaling& of) {
    return kit.node("DequantizeLinear", {x, of.scale, of.zero_point});
  }
  /// What a quantiser makes of x.
  graph::value_id rounded(graph::value_id x, const scaling& of) {
    return real(quantised(x, of), of);
  }

  graph::value_id weights(shape dims, std::size_t axis = 0) {
    const auto channels = dims[axis];
    std::vector<float> scales;
    for (std::int64_t c = 0; c < channels; ++c)
      scales.push_back(0.002F * static_cast<float>(1 + c % 3));
    const std::vector<std::int8_t> none(scales.size());
    return kit.node("DequantizeLinear",
                    {kit.constant(signed_noise(std::move(dims))),
                     kit.constant(floats({channels}, scales)),
                     kit.constant(numbers(dtype::int8, {channels}, none))},
                    with("axis", static_cast<std::int64_t>(axis)));
  }
};

// Results before and after differ by `step` at most; answers the outline afterwards.
std::string optimised(quantised_kit& of, double step, std::vector<std::string> disabled = {}) {
  auto& made = of.kit.made;
  if (made.outputs.empty())
    of.kit.output(made.nodes.back().outputs.front());
  std::vector<constant_ptr> inputs;
  for (auto id : made.inputs) {
    shape dims;
    for (const auto& axis : *made.values[id].dims)
      dims.push_back(axis.known() ? axis.size() : 2);
    inputs.push_back(noise(dims, id + 1));
  }
  const auto before = interpret(made, inputs, cpu_device());
  BOOST_REQUIRE_MESSAGE(before.has_value(), (before ? "" : to_string(before.error())));
  const auto reports = passes::run_passes(
      made, {.disabled = std::move(disabled), .on = &cpu_device(), .verify = true});
  BOOST_REQUIRE_MESSAGE(reports.has_value(), (reports ? "" : to_string(reports.error())));
  const auto after = interpret(made, inputs, cpu_device());
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : to_string(after.error())));
  BOOST_TEST(difference(*before->front(), *after->front()) <= 1.001 * step);
  const auto content = floats_in(*after->front());
  const auto [least, most] = std::minmax_element(content.begin(), content.end());
  BOOST_TEST(*most - *least > 20 * step); // the case tells something
  return outline(made);
}

bool integers_pay() {
  return cpu::multiplies_bytes_fast();
}

} // namespace

BOOST_AUTO_TEST_SUITE(quantised_graphs)

BOOST_AUTO_TEST_CASE(convolutions_become_those_of_integers) {
  quantised_kit of;
  const auto in = of.by(0.01F, 128);
  const auto out = of.by(0.02F, 100);
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), in);
  const auto bias =
      of.kit.node("DequantizeLinear",
                  {of.kit.constant(numbers(dtype::int32, {5},
                                           std::vector<std::int32_t>{900, -900, 0, 77, 5000})),
                   of.kit.constant(floats({5}, {2e-5F, 4e-5F, 6e-5F, 2e-5F, 4e-5F}))},
                  with("axis", std::int64_t{0}));
  const auto y =
      of.kit.node("Conv", {x, of.weights({5, 4, 3, 3}), bias}, with("pads", ints({1, 1, 1, 1})));
  of.rounded(y, out);
  const auto found = optimised(of, 0.02);
  if (integers_pay())
    BOOST_TEST(found == "QuantizeLinear QLinearConv DequantizeLinear");
  else
    BOOST_TEST(found == "QuantizeLinear DequantizeLinear Conv QuantizeLinear DequantizeLinear");
}

BOOST_AUTO_TEST_CASE(an_activation_becomes_bounds_of_the_integers) {
  for (const bool clips : {false, true}) {
    quantised_kit of;
    const auto in = of.by(0.01F, 128);
    const auto out = of.by(0.02F, 100);
    const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), in);
    auto y = of.kit.node("Conv", {x, of.weights({5, 4, 1, 1}), of.kit.constant(noise({5}, 3))});
    y = clips ? of.kit.node("Clip", {y, of.kit.scalar(-0.5F), of.kit.scalar(0.7F)})
              : of.kit.node("Relu", {y});
    of.rounded(y, out);
    const auto found = optimised(of, 0.02);
    if (!integers_pay())
      continue;
    BOOST_TEST(found == "QuantizeLinear QLinearConv DequantizeLinear");
    const auto& attributes = of.kit.made.nodes[1].attributes;
    BOOST_TEST(attributes.integer(lowest_byte, -1) == (clips ? 75 : 100));
    BOOST_TEST(attributes.integer(highest_byte, 255) == (clips ? 135 : 255));
  }
}

BOOST_AUTO_TEST_CASE(general_products_become_those_of_integers) {
  for (const std::int64_t transposed : {0, 1}) {
    quantised_kit of;
    const auto in = of.by(0.01F, 128);
    const auto out = of.by(0.03F, 120);
    const auto x = of.rounded(of.kit.input("x", {0, 24}), in);
    const auto w = transposed != 0 ? of.weights({7, 24}) : of.weights({24, 7}, 1);
    of.rounded(
        of.kit.node("Gemm", {x, w, of.kit.constant(noise({7}, 3))}, with("transB", transposed)),
        out);
    const auto found = optimised(of, 0.03);
    if (integers_pay())
      BOOST_TEST(found == "QuantizeLinear QLinearGemm DequantizeLinear");
  }
}

BOOST_AUTO_TEST_CASE(general_products_of_other_tools_become_the_same) {
  for (const bool quantises : {true, false}) {
    quantised_kit of;
    const auto in = of.by(0.01F, 128);
    const auto out = of.by(0.03F, 120);
    const auto x = of.quantised(of.kit.input("x", {0, 24}), in);
    const std::vector<std::int8_t> zeros(7);
    const std::vector<std::int32_t> bias{900, -900, 0, 77, 5000, 1, -2};
    std::vector<graph::value_id> inputs{
        x,
        in.scale,
        in.zero_point,
        of.kit.constant(signed_noise({7, 24})),
        of.kit.constant(floats({7}, {0.002F, 0.004F, 0.001F, 0.002F, 0.003F, 0.002F, 0.002F})),
        of.kit.constant(numbers(dtype::int8, {7}, zeros)),
        of.kit.constant(numbers(dtype::int32, {7}, bias))};
    if (quantises)
      inputs.insert(inputs.end(), {out.scale, out.zero_point});
    const auto y = of.kit.node("QGemm", inputs, with("transB", std::int64_t{1}), 1);
    of.kit.made.nodes.back().domain = "com.microsoft";
    if (quantises)
      of.real(y, out);
    auto& made = of.kit.made;
    of.kit.output(made.nodes.back().outputs.front());
    const auto reports = passes::run_passes(made, {.on = &cpu_device(), .verify = true});
    BOOST_REQUIRE_MESSAGE(reports.has_value(), (reports ? "" : to_string(reports.error())));
    const auto found = outline(made);
    if (!quantises)
      BOOST_TEST(found == "QuantizeLinear DequantizeLinear Gemm");
    else if (integers_pay())
      BOOST_TEST(found == "QuantizeLinear QLinearGemm DequantizeLinear");
    const auto input = noise({2, 24}, 5);
    const auto results = interpret(made, {input}, cpu_device());
    BOOST_REQUIRE(results.has_value());
    const auto content = floats_in(*results->front());
    const auto values = floats_in(*input);
    const auto weight = signed_noise({7, 24});
    const auto weights = elements_of<std::int8_t>(weight->data);
    const std::vector<float> scales{0.002F, 0.004F, 0.001F, 0.002F, 0.003F, 0.002F, 0.002F};
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t column = 0; column < 7; ++column) {
        double sum = bias[column];
        for (std::size_t k = 0; k < 24; ++k)
          sum += std::nearbyint(values[row * 24 + k] / 0.01F) * weights[column * 24 + k];
        const auto expected = sum * 0.01 * scales[column];
        if (!quantises || (expected > -3.5 && expected < 3.9)) // the rest saturates
          BOOST_TEST(std::abs(content[row * 7 + column] - expected) <= (quantises ? 0.0301 : 1e-4));
      }
  }
}

BOOST_AUTO_TEST_CASE(weights_around_128_become_signed_ones) {
  quantised_kit of;
  const auto in = of.by(0.01F, 128);
  const auto out = of.by(0.02F, 100);
  std::vector<std::uint8_t> content(5 * 4);
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<std::uint8_t>(i * 91 % 256);
  const auto weight_scale = of.by(0.004F, 128);
  const auto w =
      of.real(of.kit.constant(numbers(dtype::uint8, {5, 4, 1, 1}, content)), weight_scale);
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), in);
  of.rounded(of.kit.node("Conv", {x, w}), out);
  const auto found = optimised(of, 0.02);
  if (integers_pay())
    BOOST_TEST(found == "QuantizeLinear QLinearConv DequantizeLinear");
}

BOOST_AUTO_TEST_CASE(a_result_that_is_also_read_as_it_was_is_left_alone) {
  quantised_kit of;
  const auto in = of.by(0.01F, 128);
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), in);
  const auto y = of.kit.node("Conv", {x, of.weights({4, 4, 1, 1})});
  of.kit.node("Add", {of.rounded(y, of.by(0.02F, 100)), y});
  BOOST_TEST(optimised(of, 0.02).find("QLinearConv") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(sums_become_one_sweep_over_bytes) {
  for (const bool activated : {false, true}) {
    quantised_kit of;
    const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), of.by(0.01F, 128));
    const auto y = of.rounded(of.kit.input("y", {0, 4, 6, 6}), of.by(0.02F, 90));
    auto sum = of.kit.node("Add", {x, y});
    if (activated)
      sum = of.kit.node("Relu", {sum});
    of.rounded(sum, of.by(0.025F, 111));
    BOOST_TEST(optimised(of, 0.025) == "QuantizeLinear QuantizeLinear QLinearAdd DequantizeLinear");
    const auto lowest = of.kit.made.nodes[2].attributes.integer(lowest_byte, 0);
    BOOST_TEST(lowest == (activated ? 111 : 0));
  }
}

BOOST_AUTO_TEST_CASE(sums_that_broadcast_are_left_alone) {
  quantised_kit of;
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), of.by(0.01F, 128));
  const auto y = of.rounded(of.kit.input("y", {0, 4, 1, 1}), of.by(0.02F, 90));
  of.rounded(of.kit.node("Add", {x, y}), of.by(0.025F, 111));
  BOOST_TEST(optimised(of, 0.025).find("QLinearAdd") == std::string::npos);
}

// x between two scales by QLinearConv, whose weights have the given type and zero point.
std::string unfolded(dtype type, std::uint8_t zero_point) {
  quantised_kit of;
  const auto in = of.by(0.01F, 128);
  const auto out = of.by(0.02F, 100);
  std::vector<std::uint8_t> content(5 * 4 * 9);
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<std::uint8_t>(i * 91 % 256);
  const std::vector<std::uint8_t> zero{zero_point};
  const std::vector<std::int32_t> bias{900, -900, 0, 77, 5000};
  const auto x = of.quantised(of.kit.input("x", {0, 4, 6, 6}), in);
  const auto y = of.kit.node(
      "QLinearConv",
      {x, in.scale, in.zero_point, of.kit.constant(numbers(type, {5, 4, 3, 3}, content)),
       of.kit.scalar(0.002F), of.kit.constant(numbers(type, {}, zero)), out.scale, out.zero_point,
       of.kit.constant(numbers(dtype::int32, {5}, bias))},
      with("pads", ints({1, 1, 1, 1})), 10);
  of.real(y, out);
  return optimised(of, 0.02);
}

BOOST_AUTO_TEST_CASE(convolutions_of_integers_without_a_fast_kernel_compute_in_real_numbers) {
  const std::string real = "QuantizeLinear DequantizeLinear Conv QuantizeLinear DequantizeLinear";
  const std::string whole = "QuantizeLinear QLinearConv DequantizeLinear";
  BOOST_TEST(unfolded(dtype::uint8, 117) == real);
  BOOST_TEST(unfolded(dtype::uint8, 128) == (integers_pay() ? whole : real)); // signed around 0
  BOOST_TEST(unfolded(dtype::int8, 0) == (integers_pay() ? whole : real));
}

BOOST_AUTO_TEST_CASE(bytes_are_moved_and_pooled_as_they_are) {
  quantised_kit of;
  const auto by = of.by(0.01F, 128);
  auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), by);
  x = of.rounded(of.kit.node("MaxPool", {x}, with("kernel_shape", ints({2, 2}))), by);
  x = of.rounded(of.kit.node("Flatten", {x}), by);
  BOOST_TEST(optimised(of, 0) == "QuantizeLinear MaxPool Flatten DequantizeLinear");
}

BOOST_AUTO_TEST_CASE(what_is_scaled_anew_is_not_only_moved) {
  quantised_kit of;
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), of.by(0.01F, 128));
  of.rounded(of.kit.node("Flatten", {x}), of.by(0.01F, 127));
  BOOST_TEST(optimised(of, 0)
             == "QuantizeLinear DequantizeLinear Flatten QuantizeLinear DequantizeLinear");
}

BOOST_AUTO_TEST_CASE(each_of_these_passes_can_be_switched_off) {
  quantised_kit of;
  const auto by = of.by(0.02F, 128);
  const auto x = of.rounded(of.kit.input("x", {0, 4, 6, 6}), by);
  auto y = of.rounded(of.kit.node("Conv", {x, of.weights({4, 4, 1, 1})}), by);
  y = of.rounded(of.kit.node("Add", {x, y}), by);
  of.rounded(of.kit.node("Flatten", {y}), by);
  const auto found = optimised(of, 0, {"fold_qdq_products", "fold_qdq_sums", "fold_qdq_moves"});
  BOOST_TEST(found.find("QLinear") == std::string::npos);
  BOOST_TEST(found.find("Flatten QuantizeLinear") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
