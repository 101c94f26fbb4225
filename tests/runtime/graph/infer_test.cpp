#include "runtime/graph/infer.hpp"

#include "runtime/graph/dim_math.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

std::string dims_of(const graph::graph& in, graph::value_id id) {
  const auto& dims = in.values[id].dims;
  return dims ? graph::to_string(std::span<const graph::dim>{*dims}, in) : "?";
}

// Dims of the kit's last node's output, after inference.
std::string last_dims(graph_kit& kit) {
  const auto done = graph::infer_all(kit.made);
  return done ? dims_of(kit.made, kit.made.nodes.back().outputs.front()) : done.error().text;
}

graph::value_id zeros(graph_kit& kit, const shape& dims) {
  const auto count = static_cast<std::size_t>(element_count(dims));
  return kit.constant(floats(dims, std::vector<float>(count, 0.0F)));
}

} // namespace

BOOST_AUTO_TEST_CASE(a_convolution_counts_the_positions_of_its_window) {
  const auto conv = [](attribute_map attributes, std::int64_t group = 1) {
    graph_kit kit;
    attributes.set("group", group);
    const auto x = kit.input("x", {0, 4, 11, -1});
    kit.node("Conv", {x, zeros(kit, {8, 4 / group, 3, 3})}, std::move(attributes));
    return last_dims(kit);
  };
  BOOST_TEST(conv({}) == "[n,8,9,(?1-2)]");
  BOOST_TEST(conv(with("pads", ints({1, 1, 1, 1}))) == "[n,8,11,?1]"); // the size stays the symbol
  BOOST_TEST(conv(with({{"pads", ints({1, 1, 1, 1})}, {"strides", ints({2, 2})}}), 2)
             == "[n,8,6,floor((?1+1)/2)]");
  BOOST_TEST(conv(with("dilations", ints({2, 2}))) == "[n,8,7,(?1-4)]");
  BOOST_TEST(conv(with({{"auto_pad", std::string{"SAME_UPPER"}}, {"strides", ints({2, 2})}}))
             == "[n,8,6,floor((?1+1)/2)]");
  BOOST_TEST(conv(with("pads", ints({1, 1}))).find("pads with 4 values expected, [1,1] found")
             != std::string::npos);
  BOOST_TEST(conv(with("strides", ints({0, 1}))).find("strides in [1,") != std::string::npos);
  BOOST_TEST(conv(with("kernel_shape", ints({5, 5}))).find("kernel_shape [3,3] expected")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(errors_name_node_operator_expected_and_found) {
  graph_kit kit;
  const auto x = kit.input("x", {1, 3, 8, 8});
  kit.node("Conv", {x, zeros(kit, {8, 4, 3, 3})});
  kit.made.nodes.back().name = "stem";
  const auto done = graph::infer_all(kit.made);
  BOOST_REQUIRE(!done.has_value());
  BOOST_TEST((done.error().code == errc::invalid_argument));
  BOOST_TEST(
      done.error().text
      == "node 'stem' (Conv): input 0 with 4 channels expected by weight [8,4,3,3] in 1 groups,"
         " [1,3,8,8] found");
}

BOOST_AUTO_TEST_CASE(an_operator_without_a_rule_is_unimplemented) {
  graph_kit kit;
  kit.node("NoSuchOperator", {kit.input("x", {1})});
  const auto done = graph::infer_all(kit.made);
  BOOST_REQUIRE(!done.has_value());
  BOOST_TEST((done.error().code == errc::unimplemented));
}

BOOST_AUTO_TEST_CASE(pools_round_up_without_windows_in_the_padding) {
  const auto pool = [](std::int64_t size, std::vector<std::int64_t> pads, std::int64_t stride) {
    graph_kit kit;
    kit.node("MaxPool", {kit.input("x", {1, 1, size})},
             with({{"kernel_shape", ints({2})},
                   {"strides", ints({stride})},
                   {"pads", ints(std::move(pads))},
                   {"ceil_mode", std::int64_t{1}}}));
    return last_dims(kit);
  };
  BOOST_TEST(pool(5, {0, 0}, 2) == "[1,1,3]");
  BOOST_TEST(pool(3, {1, 1}, 3) == "[1,1,2]");
  BOOST_TEST(pool(2, {0, 1}, 3) == "[1,1,1]"); // a second one would begin behind the data
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_grow) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 6, 10, -1});
  kit.node("ConvTranspose", {x, zeros(kit, {6, 4, 2, 2})}, with("strides", ints({2, 2})));
  BOOST_TEST(last_dims(kit) == "[n,4,20,(?1*2)]");
}

BOOST_AUTO_TEST_CASE(branches_that_shrink_alike_stay_equal) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4, -1, -1});
  const auto three = kit.node("Conv", {x, zeros(kit, {4, 4, 3, 3})},
                              with({{"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}}));
  const auto one = kit.node("Conv", {x, zeros(kit, {4, 4, 1, 1})}, with("strides", ints({2, 2})));
  kit.node("Add", {three, one});
  BOOST_REQUIRE(graph::infer_all(kit.made).has_value());
  const auto size = [&](graph::value_id id) { return (*kit.made.values[id].dims)[2]; };
  BOOST_TEST((size(three) == size(one)));
}

BOOST_AUTO_TEST_CASE(matrix_products_follow_numpy) {
  const auto matmul = [](std::vector<std::int64_t> left, std::vector<std::int64_t> right) {
    graph_kit kit;
    const auto a = kit.input("a", std::move(left));
    const auto b = kit.input("b", std::move(right));
    kit.node("MatMul", {a, b});
    return last_dims(kit);
  };
  BOOST_TEST(matmul({0, 8, 5, 7}, {7, 3}) == "[n,8,5,3]");
  BOOST_TEST(matmul({2, 1, 5, 7}, {4, 7, 3}) == "[2,4,5,3]");
  BOOST_TEST(matmul({7}, {4, 7, 3}) == "[4,3]");
  BOOST_TEST(matmul({4, 5, 7}, {7}) == "[4,5]");
  BOOST_TEST(matmul({7}, {7}) == "[]");
  BOOST_TEST(matmul({2, 3}, {4, 5}).find("equal inner sizes expected") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(broadcasting_joins_dims_and_refuses_others) {
  const auto add = [](std::vector<std::int64_t> left, std::vector<std::int64_t> right) {
    graph_kit kit;
    const auto a = kit.input("a", std::move(left));
    const auto b = kit.input("b", std::move(right));
    kit.node("Add", {a, b});
    return last_dims(kit);
  };
  BOOST_TEST(add({0, 1, 5}, {4, 1}) == "[n,4,5]");
  BOOST_TEST(add({0, 3}, {0, 1}) == "[n,3]");
  BOOST_TEST(add({-1}, {3}) == "[3]"); // it can only be 1 or 3
  BOOST_TEST(add({2, 3}, {4}).find("[2,3] and [4] do not broadcast") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(reshape_copies_infers_and_checks) {
  const auto reshape = [](std::vector<std::int64_t> target, bool allow_zero = false) {
    graph_kit kit;
    const auto x = kit.input("x", {0, 4, 6});
    const auto count = static_cast<std::int64_t>(target.size());
    kit.node("Reshape", {x, kit.constant(integers({count}, std::move(target)))},
             with("allowzero", std::int64_t{allow_zero}));
    return last_dims(kit);
  };
  BOOST_TEST(reshape({0, 24}) == "[n,24]");
  BOOST_TEST(reshape({0, 2, -1}) == "[n,2,12]");
  BOOST_TEST(reshape({-1, 24}) == "[n,24]"); // the symbol is what is left
  BOOST_TEST(reshape({-1, 12}) == "[(n*2),12]");
  BOOST_TEST(reshape({-1}) == "[(n*24)]");
  BOOST_TEST(reshape({0, 0, 0}, true) == "[0,0,0]");
  BOOST_TEST(reshape({-1, -1}).find("two found") != std::string::npos);
  BOOST_TEST(reshape({0, 4, 6, 0}).find("has no such axis") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_shape_computed_by_the_model_keeps_its_symbols) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 120, 1, -1});
  const auto all = kit.node("Shape", {x});
  const auto cast = kit.node("Cast", {all}, with("to", std::int64_t{6}));
  const auto head =
      kit.node("Slice", {cast, kit.constant(integers({1}, {0})), kit.constant(integers({1}, {2}))});
  const auto wide = kit.node("Cast", {head}, with("to", std::int64_t{7}));
  const auto rest = kit.constant(integers({1}, {-1}));
  const auto target = kit.node("Concat", {wide, rest}, with("axis", std::int64_t{0}));
  kit.node("Reshape", {x, target});
  BOOST_TEST(last_dims(kit) == "[n,120,?1]");
}

BOOST_AUTO_TEST_CASE(with_concrete_dims_the_content_of_shapes_is_concrete) {
  graph_kit kit;
  const auto x = kit.input("x", {2, 3, 5});
  const auto all = kit.node("Shape", {x});
  const auto batch = kit.node("Gather", {all, kit.constant(integers({}, {0}))});
  const auto twice = kit.node("Mul", {batch, kit.constant(integers({}, {2}))});
  const auto added = kit.node("Unsqueeze", {twice, kit.constant(integers({1}, {0}))});
  graph::graph scratch;
  std::vector<graph::fact> facts(kit.made.values.size());
  for (graph::value_id id = 0; id < facts.size(); ++id)
    facts[id] = graph::fact_of(kit.made.values[id]);
  for (const auto& next : kit.made.nodes) {
    std::vector<graph::fact> inputs;
    for (auto id : next.inputs)
      inputs.push_back(facts[id]);
    auto outputs = graph::infer(next, inputs, scratch);
    BOOST_REQUIRE(outputs.has_value());
    facts[next.outputs[0]] = outputs->front();
  }
  BOOST_REQUIRE(facts[added].constant != nullptr);
  BOOST_TEST(elements_of<std::int64_t>(facts[added].constant->data)[0] == 4);
  BOOST_TEST(facts[added].constant->dims.size() == 1U);
}

BOOST_AUTO_TEST_CASE(slices_cut_in_both_forms_and_directions) {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    graph_kit kit;
    const auto x = kit.input("x", {10, 4});
    kit.node("Slice", {x, kit.constant(integers({1}, {start})), kit.constant(integers({1}, {end})),
                       kit.constant(integers({1}, {-2})), kit.constant(integers({1}, {step}))});
    return last_dims(kit);
  };
  BOOST_TEST(slice(0, 1'000'000'000'000, 1) == "[10,4]");
  BOOST_TEST(slice(2, -1, 3) == "[3,4]");
  BOOST_TEST(slice(-1, -20, -1) == "[10,4]");
  BOOST_TEST(slice(7, 2, 1) == "[0,4]");
  BOOST_TEST(slice(0, 4, 0).find("step other than 0") != std::string::npos);

  graph_kit old;
  old.node("Slice", {old.input("x", {0, 10})},
           with({{"starts", ints({0, 1})}, {"ends", ints({9223372036854775807, 9})}}), 9);
  BOOST_TEST(last_dims(old) == "[n,8]");
}

BOOST_AUTO_TEST_CASE(squeeze_and_unsqueeze_take_axes_in_both_forms) {
  graph_kit old;
  const auto x = old.input("x", {0, 1, 3});
  const auto squeezed = old.node("Squeeze", {x}, with("axes", ints({1})), 11);
  old.node("Unsqueeze", {squeezed}, with("axes", ints({0, -1})), 11);
  BOOST_TEST(last_dims(old) == "[1,n,3,1]");
  graph_kit now;
  now.node("Squeeze", {now.input("x", {2, 1, 3}), now.constant(integers({1}, {-2}))});
  BOOST_TEST(last_dims(now) == "[2,3]");
  graph_kit wrong;
  wrong.node("Squeeze", {wrong.input("x", {2, 1}), wrong.constant(integers({1}, {0}))});
  BOOST_TEST(last_dims(wrong).find("a size of 1 in axis 0 expected, [2,1] found")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(parts_of_a_split_are_equal_given_or_smaller_at_the_end) {
  const auto split = [](int version, std::int64_t size, std::size_t parts, bool given) {
    graph_kit kit;
    std::vector<graph::value_id> inputs{kit.input("x", {size})};
    if (given)
      inputs.push_back(kit.constant(integers({2}, {1, size - 1})));
    kit.node("Split", inputs, {}, version);
    for (std::size_t part = 1; part < parts; ++part)
      kit.made.nodes.back().outputs.push_back(kit.made.add_value({.name = "part"}));
    if (auto done = graph::infer_all(kit.made); !done)
      return done.error().text;
    std::string all;
    for (auto output : kit.made.nodes.back().outputs)
      all += dims_of(kit.made, output);
    return all;
  };
  BOOST_TEST(split(13, 6, 3, false) == "[2][2][2]");
  BOOST_TEST(split(13, 6, 2, true) == "[1][5]");
  BOOST_TEST(split(18, 7, 3, false) == "[3][3][1]");
  BOOST_TEST(split(13, 7, 3, false).find("a size that splits into 3 expected")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(resize_multiplies_sizes_or_takes_them) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4, -1, 5});
  const auto none = graph::no_value;
  kit.node("Resize", {x, none, kit.constant(floats({4}, {1, 1, 2, 1.5F}))});
  BOOST_TEST(last_dims(kit) == "[n,4,(?1*2),7]");
  graph_kit sizes;
  sizes.node("Resize", {sizes.input("x", {1, 2, 3, 4}), none, none,
                        sizes.constant(integers({4}, {1, 2, 9, 8}))});
  BOOST_TEST(last_dims(sizes) == "[1,2,9,8]");
}

BOOST_AUTO_TEST_CASE(a_prefix_as_long_as_a_symbol_broadcasts_with_it) {
  graph_kit kit;
  const auto x = kit.input("x", {2, -1});
  const auto length =
      kit.node("Gather", {kit.node("Shape", {x}), kit.constant(integers({1}, {1}))});
  const auto zero = kit.constant(integers({1}, {0}));
  const auto one = kit.constant(integers({1}, {1}));
  const auto table = zeros(kit, {1, 512});
  const auto positions = kit.node("Slice", {table, zero, length, one});
  kit.node("Add", {x, positions});
  BOOST_TEST(last_dims(kit) == "[2,?1]");
}

BOOST_AUTO_TEST_CASE(sizes_beyond_memory_are_refused) {
  graph_kit kit;
  kit.node("ConstantOfShape", {kit.constant(integers({2}, {1 << 30, 1 << 30}))});
  BOOST_TEST(last_dims(kit).find("too many elements") == std::string::npos);
  BOOST_TEST(last_dims(kit).find("at most") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(declared_output_dims_stay_where_inference_knows_less) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 3});
  const auto y = kit.node("Reshape", {x, kit.input("shape", {2}, dtype::int64)});
  kit.made.values[y].dims = graph::symbolic_shape{7, graph::dim{9}};
  kit.output(y);
  BOOST_TEST(last_dims(kit) == "[7,9]");
  kit.made.values[y].type = dtype::int32;
  BOOST_TEST(last_dims(kit).find("declared as INT32 but has type FP32") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(quantising_keeps_dims_and_takes_its_type_from_the_zero_point_or_an_attribute) {
  const auto type_of = [](attribute_map attributes, int version) {
    graph_kit kit;
    kit.node("QuantizeLinear", {kit.input("x", {0, 4}), kit.scalar(1)}, std::move(attributes),
             version);
    BOOST_TEST(last_dims(kit) == "[n,4]");
    return to_string(*kit.made.values[kit.made.nodes.back().outputs.front()].type);
  };
  BOOST_TEST(type_of({}, 13) == "UINT8");
  BOOST_TEST(type_of(with("output_dtype", std::int64_t{5}), 21) == "INT16");
  graph_kit small;
  small.node("QuantizeLinear", {small.input("x", {4}), small.scalar(1)},
             with("output_dtype", std::int64_t{22}), 21);
  BOOST_TEST(last_dims(small).find("INT4") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(integer_products_and_convolutions_have_the_dims_of_real_ones) {
  graph_kit product;
  product.node("MatMulInteger", {product.input("a", {0, 2, 3}, dtype::uint8),
                                 product.input("b", {3, 5}, dtype::int8)});
  BOOST_TEST(last_dims(product) == "[n,2,5]");
  graph_kit convolution;
  convolution.node("ConvInteger", {convolution.input("x", {0, 2, 8, 8}, dtype::uint8),
                                   convolution.input("w", {6, 2, 3, 3}, dtype::int8)});
  BOOST_TEST(last_dims(convolution) == "[n,6,6,6]");
}
