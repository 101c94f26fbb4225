#include "runtime/graph/row_flow.hpp"

#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

// "" if the rows of the kit's last node are independent, else why not.
std::string verdict(graph_kit& kit) {
  kit.made.outputs = {kit.made.nodes.back().outputs.front()};
  const auto report = graph::rows_independent(kit.made);
  BOOST_TEST(report.independent == report.reason.empty());
  return report.reason;
}

bool holds(const std::string& text, const std::string& part) {
  BOOST_TEST_MESSAGE(text);
  return text.find(part) != std::string::npos;
}

graph::value_id shape_of(graph_kit& kit, graph::value_id x, std::int64_t axis) {
  return kit.node("Gather", {kit.node("Shape", {x}), kit.constant(integers({1}, {axis}))});
}

graph::value_id numbers(graph_kit& kit, std::vector<std::int64_t> content) {
  const auto count = static_cast<std::int64_t>(content.size());
  return kit.constant(integers({count}, std::move(content)));
}

} // namespace

BOOST_AUTO_TEST_CASE(element_wise_work_keeps_rows_apart) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Mul", {kit.node("Relu", {x}), kit.constant(noise({4}, 1))});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(rows_of_several_inputs_are_the_same_rows) {
  graph_kit kit;
  const auto x = kit.input("x", {-1, 4});
  const auto y = kit.input("y", {-1, 1}); // declared without a common name
  kit.node("Add", {x, y});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(rows_that_are_moved_are_told_of) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 3, 4});
  const auto weights = kit.constant(noise({4, 4}, 1));
  const auto first = kit.node("MatMul", {x, weights});
  const auto moved = kit.node("Transpose", {first}, with("perm", ints({1, 0, 2})));
  const auto second = kit.node("MatMul", {moved, weights});
  kit.node("Transpose", {second}, with("perm", ints({1, 0, 2})));
  kit.made.outputs = {kit.made.nodes.back().outputs.front()};
  const auto report = graph::rows_independent(kit.made);
  BOOST_TEST(report.independent);
  BOOST_TEST((report.inside == std::vector<graph::node_id>{2, 3}));
}

BOOST_AUTO_TEST_CASE(a_fixed_number_of_rows_is_no_batch) {
  graph_kit fixed;
  fixed.node("Relu", {fixed.input("x", {1, 4})});
  BOOST_TEST(holds(verdict(fixed), "input 'x' always has 1 rows"));
  graph_kit scalar;
  scalar.node("Relu", {scalar.input("x", {})});
  BOOST_TEST(holds(verdict(scalar), "input 'x' has no axis 0"));
  graph_kit square;
  square.node("Relu", {square.input("x", {0, 0})});
  BOOST_TEST(holds(verdict(square), "axis 1 of input 'x' is as long as there are rows"));
}

BOOST_AUTO_TEST_CASE(work_along_the_rows_is_found_and_named) {
  const auto along = [](const std::string& op_type, attribute_map attributes) {
    graph_kit kit;
    kit.node(op_type, {kit.input("x", {0, 4})}, std::move(attributes));
    return verdict(kit);
  };
  const auto axis = [](std::int64_t number) { return with("axis", number); };
  BOOST_TEST(along("Softmax", axis(1)) == "");
  BOOST_TEST(holds(along("Softmax", axis(0)), "(Softmax): it works along the rows"));
  BOOST_TEST(holds(along("Softmax", axis(-2)), "it works along the rows"));
  BOOST_TEST(along("ReduceMean", with("axes", ints({1}))) == "");
  BOOST_TEST(holds(along("ReduceMean", with("axes", ints({0}))), "it reduces the rows"));
  BOOST_TEST(holds(along("ReduceMean", {}), "it reduces all axes"));
  BOOST_TEST(along("ArgMax", axis(1)) == "");
  BOOST_TEST(holds(along("ArgMax", axis(0)), "it reduces the rows"));
  BOOST_TEST(holds(along("Transpose", {}), "output"));
}

BOOST_AUTO_TEST_CASE(softmax_before_opset_13_normalises_all_axes_behind) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Softmax", {kit.node("Transpose", {x})}, with("axis", std::int64_t{0}), 11);
  BOOST_TEST(holds(verdict(kit), "it normalises over the rows"));
}

BOOST_AUTO_TEST_CASE(a_table_as_long_as_the_batch_may_be_is_not_the_batch) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Add", {x, kit.constant(noise({8, 4}, 1))});
  BOOST_TEST(!verdict(kit).empty());
  graph_kit repeated;
  const auto y = repeated.input("x", {0, 4});
  repeated.node("Add", {y, repeated.constant(noise({1, 4}, 1))});
  BOOST_TEST(verdict(repeated) == "");
}

BOOST_AUTO_TEST_CASE(matrix_products_keep_rows_apart_where_they_do_not_sum_over_them) {
  const auto product = [](bool turned_left, bool turned_right, bool shared_right) {
    graph_kit kit;
    auto left = kit.input("x", {0, 4});
    if (turned_left)
      left = kit.node("Transpose", {left});
    auto right = shared_right ? kit.constant(noise({4, 4}, 1)) : kit.input("y", {0, 4});
    if (turned_right)
      right = kit.node("Transpose", {right});
    kit.node("MatMul", {left, right});
    return verdict(kit);
  };
  BOOST_TEST(product(false, false, true) == "");
  BOOST_TEST(!product(true, false, false).empty());                             // x^T y
  BOOST_TEST(holds(product(false, true, false), "the rows in different axes")); // x y^T
  graph_kit attention;
  const auto q = attention.input("q", {0, 8, 5, 4});
  const auto k = attention.input("k", {0, 8, 5, 4});
  const auto turned = attention.node("Transpose", {k}, with("perm", ints({0, 1, 3, 2})));
  const auto scores = attention.node("Softmax", {attention.node("MatMul", {q, turned})});
  attention.node("MatMul", {scores, k});
  BOOST_TEST(verdict(attention) == "");
}

BOOST_AUTO_TEST_CASE(a_batch_may_travel_in_another_axis_for_a_while) {
  // Query, key and value in one matrix: [N,T,3*C] -> [N,T,3,C] -> [3,N,T,C] -> [N,T,C].
  graph_kit kit;
  const auto x = kit.input("x", {0, 5, 12});
  const auto split = kit.node("Reshape", {x, numbers(kit, {0, 5, 3, 4})});
  const auto turned = kit.node("Transpose", {split}, with("perm", ints({2, 0, 1, 3})));
  const auto first =
      kit.node("Slice", {turned, numbers(kit, {0}), numbers(kit, {1}), numbers(kit, {0})});
  kit.node("Squeeze", {first, numbers(kit, {0})});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(a_shape_that_keeps_the_batch_is_followed) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 8, -1});
  const auto target =
      kit.node("Concat", {shape_of(kit, x, 0), numbers(kit, {-1})}, with("axis", std::int64_t{0}));
  kit.node("Reshape", {x, target});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(rows_joined_with_the_axes_behind_them_are_no_rows_of_an_output) {
  const auto reshape = [](std::vector<std::int64_t> target) {
    graph_kit kit;
    kit.node("Reshape", {kit.input("x", {0, 4}), numbers(kit, std::move(target))});
    return verdict(kit);
  };
  BOOST_TEST(reshape({-1, 4}) == ""); // [n,4] again
  BOOST_TEST(reshape({0, 2, 2}) == "");
  BOOST_TEST(holds(reshape({4, -1}), "joins the rows"));
  BOOST_TEST(holds(reshape({-1, 2}), "does not have the rows in axis 0"));
  BOOST_TEST(holds(reshape({-1}), "does not have the rows in axis 0"));
}

BOOST_AUTO_TEST_CASE(joined_rows_may_be_taken_apart_again) {
  // [n,s,6] -> [n*s,6] -> [n*s,4] -> [n,s,4], as exporters write a product for each position.
  graph_kit kit;
  const auto x = kit.input("x", {0, -1, 6});
  const auto flat = kit.node("Reshape", {x, numbers(kit, {-1, 6})});
  const auto product = kit.node("Gemm", {flat, kit.constant(noise({6, 4}, 1))});
  const auto apart =
      kit.node("Concat", {shape_of(kit, x, 0), shape_of(kit, x, 1), numbers(kit, {4})},
               with("axis", std::int64_t{0}));
  kit.node("Reshape", {product, apart});
  BOOST_TEST(verdict(kit) == "");

  graph_kit counted; // [n,4] -> [n*4] -> [n,4]
  const auto y = counted.input("x", {0, 4});
  const auto line = counted.node("Relu", {counted.node("Reshape", {y, numbers(counted, {-1})})});
  counted.node("Reshape", {line, numbers(counted, {-1, 4})});
  BOOST_TEST(verdict(counted) == "");

  graph_kit windows; // [n,8,4] -> [n*2,4,4] -> [n*2*4,4] -> [n*2,16] -> [n,8,4]
  const auto z = windows.input("x", {0, 8, 4});
  auto at = windows.node("Reshape", {z, numbers(windows, {-1, 4, 4})});
  at = windows.node("Reshape", {at, numbers(windows, {-1, 4})});
  at = windows.node("Reshape", {at, numbers(windows, {-1, 16})});
  windows.node("Reshape", {at, numbers(windows, {-1, 8, 4})});
  BOOST_TEST(verdict(windows) == "");
}

BOOST_AUTO_TEST_CASE(joined_rows_are_kept_apart_as_rows_are) {
  const auto joined = [](graph_kit& kit) {
    const auto x = kit.input("x", {0, 4, 3});
    return kit.node("Reshape", {x, numbers(kit, {-1, 3})}); // [n*4,3]
  };
  graph_kit along;
  along.node("Softmax", {joined(along)}, with("axis", std::int64_t{0}));
  BOOST_TEST(holds(verdict(along), "works along the rows"));

  graph_kit cut;
  cut.node("Slice", {joined(cut), numbers(cut, {0}), numbers(cut, {4}), numbers(cut, {0})});
  BOOST_TEST(holds(verdict(cut), "cuts the rows"));

  graph_kit cut_at_rows; // the first n of n * 4 are not one of each row
  const auto flat = joined(cut_at_rows);
  cut_at_rows.node("Slice", {flat, numbers(cut_at_rows, {0}),
                             shape_of(cut_at_rows, cut_at_rows.made.inputs[0], 0),
                             numbers(cut_at_rows, {0})});
  BOOST_TEST(holds(verdict(cut_at_rows), "input 2 depends on the number of rows"));

  graph_kit mixed; // [n*4,3] beside [n,4,1,3]: each row in one slice there, in four here
  const auto x = joined(mixed);
  const auto y = mixed.input("y", {0, 4, 3});
  mixed.node("Add", {mixed.node("Unsqueeze", {y, numbers(mixed, {2})}), x});
  BOOST_TEST(holds(verdict(mixed), "an input has each row in one slice"));

  graph_kit inner; // [n,4] -> [4,n] -> [4*n]: no run of it is a row
  const auto z = inner.input("x", {0, 4});
  const auto turned = inner.node("Transpose", {z}, with("perm", ints({1, 0})));
  inner.node("Reshape", {turned, numbers(inner, {-1})});
  BOOST_TEST(holds(verdict(inner), "joins the rows with axes before them"));
}

BOOST_AUTO_TEST_CASE(a_grid_over_the_sizes_of_an_image_is_shared) {
  graph_kit kit; // [n,c,h] plus 0..h-1
  const auto x = kit.input("x", {0, 3, -1});
  const auto height = kit.node("Gather", {kit.node("Shape", {x}), kit.constant(integers({}, {2}))});
  const auto range =
      kit.node("Range", {kit.constant(integers({}, {0})), height, kit.constant(integers({}, {1}))});
  kit.node("Add", {x, kit.node("Cast", {range}, with("to", std::int64_t{1}))});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(the_number_of_rows_must_not_become_a_value) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto count = kit.node("Cast", {shape_of(kit, x, 0)}, with("to", std::int64_t{1}));
  kit.node("Div", {x, count});
  BOOST_TEST(holds(verdict(kit), "input 1 depends on the number of rows"));

  graph_kit width; // another size is the same for every row
  const auto y = width.input("x", {0, -1});
  const auto size = width.node("Cast", {shape_of(width, y, 1)}, with("to", std::int64_t{1}));
  width.node("Div", {y, size});
  BOOST_TEST(verdict(width) == "");
}

BOOST_AUTO_TEST_CASE(a_size_that_follows_from_the_number_of_rows_counts_as_it) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto twice = kit.node("Mul", {shape_of(kit, x, 0), numbers(kit, {2})});
  const auto row = kit.node("ConstantOfShape", {twice}); // [2n]
  kit.node("Add", {kit.node("Unsqueeze", {kit.node("ReduceSum", {x, numbers(kit, {1})},
                                                   with("keepdims", std::int64_t{0})),
                                          numbers(kit, {1})}),
                   row});
  BOOST_TEST(!verdict(kit).empty());
}

BOOST_AUTO_TEST_CASE(zeros_for_each_row_are_rows_and_numbered_rows_are_not) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto target =
      kit.node("Concat", {shape_of(kit, x, 0), numbers(kit, {4})}, with("axis", std::int64_t{0}));
  kit.node("Add", {x, kit.node("ConstantOfShape", {target})});
  BOOST_TEST(verdict(kit) == "");

  graph_kit ranged;
  const auto y = ranged.input("x", {0});
  const auto count =
      ranged.node("Gather", {ranged.node("Shape", {y}), ranged.constant(integers({}, {0}))});
  const auto range = ranged.node(
      "Range", {ranged.constant(integers({}, {0})), count, ranged.constant(integers({}, {1}))});
  ranged.node("Add", {y, ranged.node("Cast", {range}, with("to", std::int64_t{1}))});
  BOOST_TEST(!verdict(ranged).empty());
}

BOOST_AUTO_TEST_CASE(picking_rows_joining_rows_and_padding_rows_end_the_proof) {
  graph_kit embedding; // indices have the rows: each picks for itself
  const auto ids = embedding.input("ids", {0, 7}, dtype::int64);
  embedding.node("Gather", {embedding.constant(noise({30, 4}, 1)), ids});
  BOOST_TEST(verdict(embedding) == "");

  graph_kit picked;
  picked.node("Gather", {picked.input("x", {0, 4}), numbers(picked, {0})});
  BOOST_TEST(holds(verdict(picked), "it picks among the rows"));

  graph_kit first;
  first.node("Slice", {first.input("x", {0, 4}), numbers(first, {0}), numbers(first, {1})});
  BOOST_TEST(holds(verdict(first), "it cuts the rows"));

  graph_kit joined;
  const auto x = joined.input("x", {0, 4});
  joined.node("Concat", {x, x}, with("axis", std::int64_t{0}));
  BOOST_TEST(holds(verdict(joined), "it joins along the rows"));

  graph_kit padded;
  padded.node("Pad", {padded.input("x", {0, 4}), numbers(padded, {1, 0, 0, 0})});
  BOOST_TEST(holds(verdict(padded), "it pads the rows"));

  graph_kit repeated;
  repeated.node("Tile", {repeated.input("x", {0, 4}), numbers(repeated, {2, 1})});
  BOOST_TEST(holds(verdict(repeated), "it repeats the rows"));
}

BOOST_AUTO_TEST_CASE(weights_computed_from_the_input_end_the_proof) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4, 8, 8});
  const auto w = kit.input("w", {0, 4, 1, 1});
  kit.node("Conv", {x, w});
  BOOST_TEST(holds(verdict(kit), "input 1 depends on the rows"));
}

BOOST_AUTO_TEST_CASE(post_op_operands_are_part_of_the_proof) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Relu", {x, kit.constant(noise({4}, 1))});
  kit.made.nodes.back().post_ops.push_back({.kind = post_op_kind::add, .operand = 1});
  BOOST_TEST(verdict(kit) == "");
  kit.made.nodes.back().inputs[1] = kit.constant(noise({8, 4}, 2));
  BOOST_TEST(holds(verdict(kit), "post-op"));
}

BOOST_AUTO_TEST_CASE(an_output_without_rows_ends_the_proof) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.node("Shape", {x});
  BOOST_TEST(holds(verdict(kit), "does not have the rows in axis 0"));
}

BOOST_AUTO_TEST_CASE(quantising_keeps_rows_apart_unless_the_scale_follows_from_them) {
  graph_kit fixed;
  const auto scale = fixed.scalar(0.5F);
  const auto y = fixed.node("QuantizeLinear", {fixed.input("x", {0, 4}), scale});
  fixed.node("DequantizeLinear", {y, scale});
  BOOST_TEST(verdict(fixed) == "");
  graph_kit by_row;
  by_row.node("QuantizeLinear", {by_row.input("x", {0, 4}), by_row.constant(noise({4}, 1))},
              with("axis", std::int64_t{0}));
  BOOST_TEST(holds(verdict(by_row), "its scale is not the same for all rows"));
  graph_kit dynamic;
  dynamic.node("DynamicQuantizeLinear", {dynamic.input("x", {0, 4})});
  BOOST_TEST(holds(verdict(dynamic), "its scale follows from all rows"));
}

BOOST_AUTO_TEST_CASE(an_integer_product_keeps_the_rows_of_its_left_side) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4}, dtype::uint8);
  const auto w = kit.node("QuantizeLinear", {kit.constant(noise({4, 3}, 1)), kit.scalar(0.01F)});
  kit.node("MatMulInteger", {x, w});
  BOOST_TEST(verdict(kit) == "");
}

BOOST_AUTO_TEST_CASE(a_recurrent_layer_has_its_rows_in_another_axis_of_each_output) {
  const auto layer = [](graph_kit& kit, graph::value_id x) {
    const auto last = kit.node(
        "LSTM", {x, kit.constant(noise({1, 8, 3}, 1)), kit.constant(noise({1, 8, 2}, 2))}, {}, 14);
    kit.made.nodes.back().outputs.push_back(kit.made.add_value({.name = "h"}));
    return last;
  };
  graph_kit kit;
  const auto x = kit.input("x", {0, 5, 3});
  layer(kit, kit.node("Transpose", {x}, with("perm", ints({1, 0, 2}))));
  const auto state = kit.made.nodes.back().outputs.back();
  kit.node("Squeeze", {state, numbers(kit, {0})});
  BOOST_TEST(verdict(kit) == "");
  graph_kit along;
  layer(along, along.input("x", {0, 5, 3}));
  BOOST_TEST(holds(verdict(along), "the rows are not in axis 1 of input 0"));
}

BOOST_AUTO_TEST_CASE(an_einstein_sum_keeps_rows_whose_index_comes_out) {
  const auto sum = [](const char* equation) {
    graph_kit kit;
    const auto x = kit.input("x", {0, 4, 5});
    const auto w = kit.constant(noise({5, 6}, 1));
    kit.node("Einsum", {x, w}, with("equation", std::string{equation}));
    return verdict(kit);
  };
  BOOST_TEST(sum("bij,jk->bik") == "");
  BOOST_TEST(holds(sum("bij,jk->ik"), "it sums over the rows"));
  BOOST_TEST(holds(sum("bij,jk->kbi"), "does not have the rows in axis 0"));
}

BOOST_AUTO_TEST_CASE(fused_attention_keeps_rows_that_its_permutations_put_first) {
  const auto attend = [](std::vector<std::int64_t> perm, shape mask) {
    graph_kit kit;
    const auto x = kit.input("x", {0, 2, 4, 6});
    kit.node("Attention", {x, x, x, kit.constant(noise(std::move(mask), 1))},
             with({{"q_perm", ints(perm)},
                   {"k_perm", ints(perm)},
                   {"v_perm", ints(perm)},
                   {"out_perm", ints({0, 2, 1, 3})}}),
             1);
    kit.made.nodes.back().domain = "troupe";
    return verdict(kit);
  };
  BOOST_TEST(attend({0, 1, 2, 3}, {4, 4}) == "");
  BOOST_TEST(holds(attend({1, 0, 2, 3}, {4, 4}), "the rows are not in axis 1 of input 0"));
  BOOST_TEST(holds(attend({0, 1, 2, 3}, {3, 2, 4, 4}), "has a batch of its own"));
}

BOOST_AUTO_TEST_CASE(attention_takes_a_mask_that_all_rows_share) {
  const auto attend = [](shape mask) {
    graph_kit kit;
    const auto x = kit.input("x", {0, 4, 6});
    attribute_map heads =
        with({{"q_num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{2}}});
    kit.node("Attention", {x, x, x, kit.constant(noise(std::move(mask), 1))}, heads, 23);
    return verdict(kit);
  };
  BOOST_TEST(attend({4, 4}) == "");
  BOOST_TEST(attend({1, 2, 4, 4}) == "");
  BOOST_TEST(holds(attend({3, 2, 4, 4}), "its mask has a batch of its own"));
}
