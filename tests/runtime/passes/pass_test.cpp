// Each rewrite: the graph before and after in outline, and equal results on the same input.

#include "kernels/cpu/quantized_kernels.hpp"
#include "runtime/graph/row_flow.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "tests/runtime/passes/cpu_device.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace troupe;
using namespace troupe::test;

namespace {

// Inputs for the kit's graph: every symbol stands for 2.
std::vector<constant_ptr> inputs_of(const graph::graph& of) {
  std::vector<constant_ptr> inputs;
  for (auto id : of.inputs) {
    shape dims;
    for (const auto& axis : *of.values[id].dims)
      dims.push_back(axis.known() ? axis.size() : 2);
    inputs.push_back(noise(dims, id + 1));
  }
  return inputs;
}

// Optimises the graph of the kit, whose outputs are set (or whose last node makes the one); checks
// that results and the proof of rows stay, and answers the outline.
std::string optimised(graph_kit& kit, double tolerance = 1e-5) {
  if (kit.made.outputs.empty())
    kit.output(kit.made.nodes.back().outputs.front());
  const auto inputs = inputs_of(kit.made);
  const auto before = interpret(kit.made, inputs, cpu_device());
  if (!before)
    return to_string(before.error());
  const bool rows = graph::rows_independent(kit.made).independent;
  const auto name = kit.made.values[kit.made.outputs.front()].name;
  const auto reports = passes::run_passes(kit.made, {.on = &cpu_device(), .verify = true});
  if (!reports)
    return to_string(reports.error());
  BOOST_TEST(kit.made.values[kit.made.outputs.front()].name == name);
  BOOST_TEST(graph::rows_independent(kit.made).independent == rows);
  const auto after = interpret(kit.made, inputs, cpu_device());
  if (!after)
    return to_string(after.error());
  for (std::size_t index = 0; index < before->size(); ++index)
    if (!(difference(*(*before)[index], *(*after)[index]) <= tolerance))
      return outline(kit.made) + ": results differ by "
             + std::to_string(difference(*(*before)[index], *(*after)[index]));
  return outline(kit.made);
}

// x [n,4,6,6] behind a 3x3 convolution with 4 channels.
graph::value_id convolved(graph_kit& kit, graph::value_id x, bool bias = true) {
  std::vector<graph::value_id> inputs{x, kit.constant(noise({4, 4, 3, 3}, 77))};
  if (bias)
    inputs.push_back(kit.constant(noise({4}, 78)));
  return kit.node("Conv", inputs, with("pads", ints({1, 1, 1, 1})));
}

graph::value_id image(graph_kit& kit) {
  return kit.input("x", {0, 4, 6, 6});
}

graph::value_id positive(graph_kit& kit, shape dims, unsigned seed) {
  auto content = floats_in(*noise(dims, seed));
  for (auto& number : content)
    number = std::abs(number) + 0.25F;
  return kit.constant(floats(dims, content));
}

} // namespace

BOOST_AUTO_TEST_CASE(operators_that_change_nothing_leave) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  auto y = kit.node("Identity", {x});
  y = kit.node("Dropout", {y});
  y = kit.node("Cast", {y}, with("to", std::int64_t{1}));
  y = kit.node("Transpose", {y}, with("perm", ints({0, 1})));
  y = kit.node("Reshape", {y, kit.constant(integers({2}, {-1, 4}))});
  y = kit.node("Mul", {kit.scalar(1), y});
  y = kit.node("Exp", {y});
  y = kit.node("Add", {y, kit.scalar(0)});
  kit.node("Div", {y, kit.scalar(1)}); // the graph's output keeps its name
  BOOST_TEST(optimised(kit, 0) == "Exp");
}

BOOST_AUTO_TEST_CASE(a_graph_that_passes_an_input_on_keeps_the_node_that_names_the_output) {
  graph_kit kit;
  kit.node("Identity", {kit.input("x", {0, 4})});
  BOOST_TEST(optimised(kit, 0) == "Identity");
}

BOOST_AUTO_TEST_CASE(a_one_that_broadcasts_is_not_neutral) {
  graph_kit kit;
  kit.node("Mul", {kit.input("x", {4}), kit.constant(floats({1, 1}, {1}))});
  BOOST_TEST(optimised(kit, 0) == "Mul");
}

BOOST_AUTO_TEST_CASE(random_numbers_are_neither_folded_nor_merged) {
  graph_kit kit;
  const auto draw = [&] {
    return kit.node("RandomUniform", {},
                    with({{"shape", ints({4})}, {"low", 1.0F}, {"high", 1.0F}}), 1);
  };
  const auto drawn = draw();
  kit.node("Mul", {kit.node("Div", {kit.input("x", {0, 4}), drawn}), draw()});
  const auto text = optimised(kit);
  const auto first = text.find("RandomUniform");
  BOOST_TEST_REQUIRE(first != std::string::npos, text);
  BOOST_TEST(text.find("RandomUniform", first + 1) != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(nodes_on_constants_become_constants) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto folded =
      kit.node("Sqrt", {kit.node("Add", {positive(kit, {4}, 1), positive(kit, {4}, 2)})});
  kit.node("Sub", {x, folded});
  BOOST_TEST(optimised(kit) == "Sub");
}

BOOST_AUTO_TEST_CASE(known_sizes_are_folded_even_where_others_are_symbols) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 2, 3});
  const auto all = kit.node("Shape", {x});
  const auto tail =
      kit.node("Slice", {all, kit.constant(integers({1}, {1})), kit.constant(integers({1}, {3}))});
  const auto turned = kit.node("Gather", {tail, kit.constant(integers({2}, {1, 0}))});
  const auto target =
      kit.node("Concat", {kit.constant(integers({1}, {0})), turned}, with("axis", std::int64_t{0}));
  kit.node("Reshape", {x, target});
  BOOST_TEST(optimised(kit, 0) == "Reshape");
}

BOOST_AUTO_TEST_CASE(equal_nodes_on_equal_inputs_become_one) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto one = kit.node("Add", {x, kit.constant(noise({4}, 1))});
  const auto other = kit.node("Add", {x, kit.constant(noise({4}, 1))});
  kit.node("MatMul", {one, kit.node("Transpose", {other})});
  BOOST_TEST(optimised(kit, 0) == "Add Transpose MatMul");
}

BOOST_AUTO_TEST_CASE(what_nobody_reads_leaves) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Exp", {kit.node("Neg", {x})});
  kit.node("Abs", {x});
  BOOST_TEST(optimised(kit, 0) == "Abs");
}

BOOST_AUTO_TEST_CASE(batch_normalization_becomes_weight_and_bias) {
  for (const bool bias : {true, false}) {
    graph_kit kit;
    const auto y = convolved(kit, image(kit), bias);
    kit.node("BatchNormalization", {y, positive(kit, {4}, 1), kit.constant(noise({4}, 2)),
                                    kit.constant(noise({4}, 3)), positive(kit, {4}, 4)});
    BOOST_TEST(optimised(kit) == "Conv");
  }
}

BOOST_AUTO_TEST_CASE(batch_normalization_folds_into_grouped_transposed_convolutions) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4, 5, 5});
  const auto y = kit.node("ConvTranspose", {x, kit.constant(noise({4, 3, 2, 2}, 9))},
                          with({{"strides", ints({2, 2})}, {"group", std::int64_t{2}}}));
  kit.node("BatchNormalization", {y, positive(kit, {6}, 1), kit.constant(noise({6}, 2)),
                                  kit.constant(noise({6}, 3)), positive(kit, {6}, 4)});
  BOOST_TEST(optimised(kit) == "ConvTranspose");
}

BOOST_AUTO_TEST_CASE(an_output_read_twice_is_not_fused_away) {
  graph_kit kit;
  const auto y = convolved(kit, image(kit));
  const auto norm =
      kit.node("BatchNormalization", {y, positive(kit, {4}, 1), kit.constant(noise({4}, 2)),
                                      kit.constant(noise({4}, 3)), positive(kit, {4}, 4)});
  kit.output(kit.node("MaxPool", {norm}, with("kernel_shape", ints({2, 2}))));
  kit.output(kit.node("MaxPool", {y}, with("kernel_shape", ints({3, 3}))));
  BOOST_TEST(optimised(kit) == "Conv BatchNormalization MaxPool MaxPool");
}

BOOST_AUTO_TEST_CASE(a_graph_output_is_not_fused_away) {
  graph_kit kit;
  const auto y = convolved(kit, image(kit));
  kit.output(y);
  kit.output(kit.node("Relu", {y}));
  BOOST_TEST(optimised(kit, 0) == "Conv Relu");
}

BOOST_AUTO_TEST_CASE(channel_constants_behind_a_convolution_become_weight_and_bias) {
  graph_kit kit;
  auto y = convolved(kit, image(kit), false);
  y = kit.node("Add", {y, kit.constant(noise({1, 4, 1, 1}, 1))});
  y = kit.node("Mul", {kit.constant(floats({1}, {1.5F})), y});
  y = kit.node("Sub", {y, kit.constant(noise({4, 1, 1}, 2))});
  y = kit.node("Sub", {kit.scalar(2), y});
  kit.node("Div", {y, kit.scalar(3)});
  BOOST_TEST(optimised(kit) == "Conv");
}

BOOST_AUTO_TEST_CASE(a_constant_along_the_width_is_not_one_of_the_channels) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4, 6, 4});
  kit.node("Mul", {convolved(kit, x), kit.constant(noise({4}, 1))}); // 4 wide, and 4 channels
  BOOST_TEST(optimised(kit) == "Conv+multiply");
}

BOOST_AUTO_TEST_CASE(activations_become_steps) {
  const auto fused = [](const std::string& op_type, attribute_map attributes = {}) {
    graph_kit kit;
    kit.node(op_type, {convolved(kit, image(kit))}, std::move(attributes), 20);
    return optimised(kit);
  };
  BOOST_TEST(fused("Relu") == "Conv+relu");
  BOOST_TEST(fused("LeakyRelu", with("alpha", 0.3F)) == "Conv+leaky_relu");
  BOOST_TEST(fused("Sigmoid") == "Conv+sigmoid");
  BOOST_TEST(fused("Tanh") == "Conv+tanh");
  BOOST_TEST(fused("HardSigmoid", with("alpha", 0.3F)) == "Conv+hard_sigmoid");
  BOOST_TEST(fused("HardSwish") == "Conv+hard_swish");
  BOOST_TEST(fused("Gelu") == "Conv+gelu_erf");
  BOOST_TEST(fused("Gelu", with("approximate", std::string{"tanh"})) == "Conv+gelu_tanh");
}

BOOST_AUTO_TEST_CASE(clip_is_a_step_when_its_bounds_are_constant) {
  graph_kit kit;
  kit.node("Clip", {convolved(kit, image(kit)), kit.scalar(-0.5F), kit.scalar(0.5F)});
  BOOST_TEST(optimised(kit) == "Conv+clip");
  graph_kit open;
  open.node("Clip", {convolved(open, image(open)), graph::no_value, open.scalar(0.5F)});
  BOOST_TEST(optimised(open) == "Conv+clip");
  graph_kit old;
  old.node("Clip", {convolved(old, image(old))}, with({{"min", 0.0F}, {"max", 0.25F}}), 9);
  BOOST_TEST(optimised(old) == "Conv+clip");
  graph_kit free;
  free.node("Clip", {convolved(free, image(free)), free.input("least", {})});
  BOOST_TEST(optimised(free) == "Conv Clip");
}

BOOST_AUTO_TEST_CASE(hard_swish_is_found_in_each_way_it_is_written) {
  const auto written = [](int way) {
    graph_kit kit;
    const auto x = convolved(kit, image(kit));
    const auto three = kit.node("Add", {x, kit.scalar(3)});
    const auto clip = kit.node("Clip", {three, kit.scalar(0), kit.scalar(way == 3 ? 5.0F : 6.0F)});
    const auto six = kit.constant(floats({}, {6}));
    if (way == 0)
      kit.node("Div", {kit.node("Mul", {x, clip}), six});
    else if (way == 1)
      kit.node("Mul", {kit.node("Div", {clip, six}), x});
    else if (way == 2)
      kit.node("Mul", {kit.node("Mul", {clip, x}), kit.scalar(1.0F / 6.0F)});
    else
      kit.node("Div", {kit.node("Mul", {x, clip}), six});
    return optimised(kit);
  };
  BOOST_TEST(written(0) == "Conv+hard_swish");
  BOOST_TEST(written(1) == "Conv+hard_swish");
  BOOST_TEST(written(2) == "Conv+hard_swish");
  BOOST_TEST(written(3) != "Conv+hard_swish"); // clipped at 5
}

BOOST_AUTO_TEST_CASE(gates_of_the_own_value_become_one_step) {
  graph_kit silu;
  const auto x = convolved(silu, image(silu));
  silu.node("Mul", {x, silu.node("Sigmoid", {x})});
  BOOST_TEST(optimised(silu) == "Conv+silu");
  graph_kit hard;
  const auto y = convolved(hard, image(hard));
  hard.node("Mul", {hard.node("HardSigmoid", {y}, with("alpha", 0.3F)), y});
  BOOST_TEST(optimised(hard) == "Conv+hard_swish");
  graph_kit input; // nothing makes x: the sigmoid goes on with the product
  const auto z = input.input("x", {0, 4});
  input.node("Mul", {z, input.node("Sigmoid", {z})});
  BOOST_TEST(optimised(input) == "Sigmoid+multiply");
}

BOOST_AUTO_TEST_CASE(gelu_is_found_in_each_way_it_is_written) {
  const auto exact = [](int way) {
    graph_kit kit;
    const auto x = kit.node("MatMul", {kit.input("x", {0, 4}), kit.constant(noise({4, 4}, 1))});
    const auto scaled = way == 2 ? kit.node("Mul", {x, kit.scalar(0.70710678F)})
                                 : kit.node("Div", {x, kit.scalar(1.41421356F)});
    const auto curve =
        kit.node("Add", {kit.node("Erf", {scaled}), kit.scalar(way == 3 ? 2.0F : 1.0F)});
    if (way == 1)
      kit.node("Mul", {kit.node("Mul", {kit.scalar(0.5F), x}), curve});
    else
      kit.node("Mul", {kit.node("Mul", {x, curve}), kit.scalar(0.5F)});
    return optimised(kit);
  };
  BOOST_TEST(exact(0) == "MatMul+gelu_erf");
  BOOST_TEST(exact(1) == "MatMul+gelu_erf");
  BOOST_TEST(exact(2) == "MatMul+gelu_erf");
  BOOST_TEST(exact(3).find("gelu") == std::string::npos); // 2 + erf is none
}

BOOST_AUTO_TEST_CASE(the_tanh_form_of_gelu_is_found) {
  const auto approximate = [](bool power) {
    graph_kit kit;
    const auto x = kit.node("MatMul", {kit.input("x", {0, 4}), kit.constant(noise({4, 4}, 1))});
    const auto cube =
        power ? kit.node("Pow", {x, kit.scalar(3)}) : kit.node("Mul", {kit.node("Mul", {x, x}), x});
    const auto sum = kit.node("Add", {x, kit.node("Mul", {cube, kit.scalar(0.044715F)})});
    const auto curve = kit.node("Tanh", {kit.node("Mul", {sum, kit.scalar(0.7978845608F)})});
    kit.node("Mul",
             {kit.node("Mul", {kit.scalar(0.5F), x}), kit.node("Add", {curve, kit.scalar(1)})});
    return optimised(kit);
  };
  BOOST_TEST(approximate(true) == "MatMul+gelu_tanh");
  BOOST_TEST(approximate(false) == "MatMul+gelu_tanh");
}

namespace {

// Layer normalisation as PyTorch writes it; the parts tests change are arguments.
std::string layer_norm(bool square_by_product, bool bias, std::int64_t axis = -1,
                       float exponent = 2.0F) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 5, 5});
  const auto axes = with("axes", ints({axis}));
  const auto centred = kit.node("Sub", {x, kit.node("ReduceMean", {x}, axes)});
  const auto square = square_by_product ? kit.node("Mul", {centred, centred})
                                        : kit.node("Pow", {centred, kit.scalar(exponent)});
  const auto variance = kit.node("ReduceMean", {square}, axes);
  const auto deviation = kit.node("Sqrt", {kit.node("Add", {variance, kit.scalar(1e-5F)})});
  const auto scaled =
      kit.node("Mul", {kit.node("Div", {centred, deviation}), kit.constant(noise({5}, 1))});
  if (bias)
    kit.node("Add", {kit.constant(noise({5}, 2)), scaled});
  return optimised(kit);
}

} // namespace

BOOST_AUTO_TEST_CASE(layer_normalization_is_found) {
  BOOST_TEST(layer_norm(false, true) == "LayerNormalization");
  BOOST_TEST(layer_norm(true, true) == "LayerNormalization");
  BOOST_TEST(layer_norm(false, false) == "LayerNormalization");
  BOOST_TEST(layer_norm(false, true, 2) == "LayerNormalization");
}

BOOST_AUTO_TEST_CASE(what_only_looks_like_layer_normalization_stays) {
  BOOST_TEST(layer_norm(false, true, 1).find("LayerNormalization") == std::string::npos);
  BOOST_TEST(layer_norm(false, true, -1, 4.0F).find("LayerNormalization") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(chains_of_numbers_become_one_linear_step) {
  graph_kit kit;
  auto y = kit.node("Relu", {convolved(kit, image(kit))});
  y = kit.node("Mul", {kit.scalar(1.5F), y});
  y = kit.node("Add", {y, kit.scalar(0.25F)});
  y = kit.node("Sub", {kit.scalar(2), y});
  kit.node("Div", {y, kit.scalar(4)});
  BOOST_TEST(optimised(kit) == "Conv+relu+linear");
  BOOST_TEST(kit.made.nodes[0].post_ops[1].alpha == -0.375F);
  BOOST_TEST(kit.made.nodes[0].post_ops[1].beta == 0.4375F);
}

BOOST_AUTO_TEST_CASE(a_number_divided_by_a_tensor_is_no_linear_step) {
  graph_kit kit;
  const auto y = kit.node("Exp", {kit.input("x", {0, 4})});
  kit.node("Div", {kit.scalar(1), y});
  BOOST_TEST(optimised(kit) == "Exp Div");
}

BOOST_AUTO_TEST_CASE(a_bias_behind_a_matrix_product_becomes_a_step) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 3, 4});
  const auto y = kit.node("MatMul", {x, kit.constant(noise({4, 5}, 1))});
  kit.node("Relu", {kit.node("Add", {kit.constant(noise({5}, 2)), y})});
  BOOST_TEST(optimised(kit) == "MatMul+add+relu");
  BOOST_TEST(kit.made.nodes[0].post_ops[0].operand == 2U);
}

BOOST_AUTO_TEST_CASE(operands_stand_behind_optional_inputs) {
  graph_kit kit;
  const auto x = image(kit);
  kit.node("Relu", {kit.node("Add", {x, convolved(kit, x, false)})});
  BOOST_TEST(optimised(kit) == "Conv+add+relu");
  BOOST_TEST(kit.made.nodes[0].inputs[2] == graph::no_value);
  BOOST_TEST(kit.made.nodes[0].post_ops[0].operand == 3U);
}

BOOST_AUTO_TEST_CASE(of_two_branches_the_later_takes_the_residual) {
  graph_kit kit;
  const auto x = image(kit);
  const auto main = convolved(kit, kit.node("Relu", {convolved(kit, x)}));
  const auto side = convolved(kit, x, false);
  kit.node("Relu", {kit.node("Add", {main, side})});
  BOOST_TEST(optimised(kit) == "Conv+relu Conv Conv+add+relu");
}

BOOST_AUTO_TEST_CASE(operands_of_other_sizes_are_not_fused) {
  graph_kit larger; // the sum has dims of its own
  const auto x = larger.node("Exp", {larger.input("x", {1, 4})});
  larger.node("Add", {x, larger.input("y", {0, 4})});
  BOOST_TEST(optimised(larger) == "Exp Add");
  graph_kit unknown; // nobody knows whether the sizes are equal
  const auto a = unknown.node("Exp", {unknown.input("x", {-1, 4})});
  unknown.node("Add", {a, unknown.input("y", {-1, 4})});
  BOOST_TEST(optimised(unknown) == "Exp Add");
  graph_kit square; // x + x would read what is not there any more
  const auto y = square.node("Exp", {square.input("x", {0, 4})});
  square.node("Mul", {y, y});
  BOOST_TEST(optimised(square) == "Exp Mul");
}

BOOST_AUTO_TEST_CASE(a_gate_computed_for_each_image_is_not_put_behind_a_convolution) {
  graph_kit kit; // squeeze and excite, from another tensor
  const auto gate = kit.input("gate", {0, 4, 1, 1});
  kit.node("Mul", {convolved(kit, image(kit)), gate});
  BOOST_TEST(optimised(kit) == "Conv Mul");
}

BOOST_AUTO_TEST_CASE(steps_of_a_swallowed_node_come_along) {
  graph_kit kit; // Add takes its Sigmoid first, then MatMul takes both
  const auto x = kit.input("x", {0, 4});
  const auto y = kit.node("MatMul", {x, kit.constant(noise({4, 4}, 1))});
  const auto sum = kit.node("Add", {y, kit.constant(noise({4}, 2))});
  const auto gated = kit.node("Mul", {sum, kit.node("Sigmoid", {sum})});
  kit.node("Add", {gated, x});
  BOOST_TEST(optimised(kit) == "MatMul+add+silu+add");
}

BOOST_AUTO_TEST_CASE(element_wise_chains_become_one_node) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto y = kit.node("Add", {x, kit.input("y", {0, 4})});
  const auto z = kit.node("Tanh", {kit.node("Mul", {y, kit.scalar(0.5F)})});
  kit.node("Mul", {z, x});
  BOOST_TEST(optimised(kit) == "Add+linear+tanh+multiply");
}

namespace {

// The gate that two 1x1 convolutions make of x [n,4,6,6]'s means.
graph::value_id gate_of(graph_kit& kit, graph::value_id mean, const char* gate) {
  auto y =
      kit.node("Conv", {mean, kit.constant(noise({2, 4, 1, 1}, 11)), kit.constant(noise({2}, 12))});
  y = kit.node("Conv", {kit.node("Relu", {y}), kit.constant(noise({4, 2, 1, 1}, 13)),
                        kit.constant(noise({4}, 14))});
  return kit.node(gate, {y});
}

} // namespace

BOOST_AUTO_TEST_CASE(squeeze_and_excite_becomes_one_operator) {
  for (const bool pools : {true, false})
    for (const bool gate_first : {true, false}) {
      graph_kit kit;
      const auto x = convolved(kit, image(kit));
      const auto mean = pools ? kit.node("GlobalAveragePool", {x})
                              : kit.node("ReduceMean", {x}, with("axes", ints({-1, 2})));
      const auto gate = gate_of(kit, mean, pools ? "HardSigmoid" : "Sigmoid");
      const auto y = gate_first ? kit.node("Mul", {gate, x}) : kit.node("Mul", {x, gate});
      kit.node("Conv", {y, kit.constant(noise({5, 4, 1, 1}, 15))});
      BOOST_TEST(optimised(kit) == "Conv SqueezeExcite Conv");
    }
}

BOOST_AUTO_TEST_CASE(steps_behind_the_gated_image_stay_with_it) {
  graph_kit kit;
  const auto x = convolved(kit, image(kit));
  const auto gate = gate_of(kit, kit.node("GlobalAveragePool", {x}), "HardSigmoid");
  const auto y = kit.node("Mul", {x, gate});
  kit.node("Relu", {kit.node("Add", {y, x})});
  BOOST_TEST(optimised(kit) == "Conv SqueezeExcite+add+relu");
}

BOOST_AUTO_TEST_CASE(gates_of_other_images_and_gates_read_twice_are_left_alone) {
  graph_kit kit;
  const auto x = convolved(kit, image(kit));
  const auto gate = gate_of(kit, kit.node("GlobalAveragePool", {convolved(kit, x)}), "HardSigmoid");
  kit.node("Mul", {x, gate});
  BOOST_TEST(optimised(kit).find("SqueezeExcite") == std::string::npos);

  graph_kit twice;
  const auto image_of_it = convolved(twice, image(twice));
  const auto read = gate_of(twice, twice.node("GlobalAveragePool", {image_of_it}), "HardSigmoid");
  const auto gated = twice.node("Mul", {image_of_it, read});
  twice.output(twice.node("Exp", {read}));
  twice.output(gated);
  BOOST_TEST(optimised(twice).find("SqueezeExcite") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(squeeze_and_excite_stays_as_it_is_where_that_is_asked_for) {
  graph_kit kit;
  const auto x = convolved(kit, image(kit));
  const auto gate = gate_of(kit, kit.node("GlobalAveragePool", {x}), "HardSigmoid");
  kit.output(kit.node("Mul", {x, gate}));
  const auto reports = passes::run_passes(
      kit.made, {.disabled = {"fuse_squeeze_excite"}, .on = &cpu_device(), .verify = true});
  BOOST_REQUIRE(reports.has_value());
  BOOST_TEST(outline(kit.made) == "Conv GlobalAveragePool Conv+relu Conv+hard_sigmoid Mul");
}

BOOST_AUTO_TEST_CASE(integers_are_left_alone) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4}, dtype::int64);
  const auto y = kit.node("Add", {x, kit.constant(integers({4}, {1, 2, 3, 4}))});
  kit.output(kit.node("Mul", {y, y}));
  const auto reports = passes::run_passes(kit.made, {.on = &cpu_device(), .verify = true});
  BOOST_REQUIRE(reports.has_value());
  BOOST_TEST(outline(kit.made) == "Add Mul");
}

BOOST_AUTO_TEST_CASE(a_product_between_dequantised_and_quantised_becomes_one_of_integers) {
  const auto bytes = [](std::vector<std::uint8_t> content) {
    return std::make_shared<const tensor>(
        tensor{dtype::uint8, {}, copy_of(std::as_bytes(std::span{content}))});
  };
  const auto signed_bytes = [](shape dims, std::size_t count) {
    std::vector<std::int8_t> content(count);
    for (std::size_t i = 0; i < count; ++i)
      content[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
    return std::make_shared<const tensor>(
        tensor{dtype::int8, std::move(dims), copy_of(std::as_bytes(std::span{content}))});
  };
  graph_kit kit;
  const auto in_scale = kit.scalar(0.01F);
  const auto in_zero = kit.constant(bytes({128}));
  const auto x = kit.node("QuantizeLinear", {kit.input("x", {0, 8}), in_scale, in_zero});
  const auto left = kit.node("DequantizeLinear", {x, in_scale, in_zero});
  const std::vector<std::int8_t> none(4);
  const auto zeros = std::make_shared<const tensor>(
      tensor{dtype::int8, {4}, copy_of(std::as_bytes(std::span{none}))});
  const auto right =
      kit.node("DequantizeLinear",
               {kit.constant(signed_bytes({8, 4}, 32)),
                kit.constant(floats({4}, {0.01F, 0.02F, 0.03F, 0.01F})), kit.constant(zeros)},
               with("axis", std::int64_t{1}));
  const auto out_scale = kit.scalar(0.02F);
  const auto out_zero = kit.constant(bytes({100}));
  const auto y =
      kit.node("QuantizeLinear", {kit.node("MatMul", {left, right}), out_scale, out_zero});
  kit.node("DequantizeLinear", {y, out_scale, out_zero});
  const auto found = optimised(kit, 0.0201); // one step
  if (cpu::multiplies_bytes_fast())
    BOOST_TEST(found == "QuantizeLinear QLinearMatMul DequantizeLinear");
  else
    BOOST_TEST(found == "QuantizeLinear DequantizeLinear MatMul QuantizeLinear DequantizeLinear");
}
