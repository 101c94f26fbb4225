// Attention as exporters write it: the graph before and after in outline, and equal results.

#include "runtime/graph/row_flow.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "tests/runtime/passes/cpu_device.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace troupe;
using namespace troupe::test;
using graph::value_id;

namespace {

constexpr std::int64_t batch = 2, heads = 3, queries = 29, keys = 37, size = 10, value_size = 18;

constant_ptr truths(shape dims, const std::vector<std::uint8_t>& content) {
  return std::make_shared<const tensor>(
      tensor{dtype::boolean, std::move(dims), copy_of(std::as_bytes(std::span{content}))});
}

// Largest difference; where one has NaN the other must have it.
double apart(const tensor& left, const tensor& right) {
  const auto x = floats_in(left);
  const auto y = floats_in(right);
  if (left.dims != right.dims)
    return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isnan(x[i]) != std::isnan(y[i]))
      return std::numeric_limits<double>::infinity();
    else if (!std::isnan(x[i]))
      most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return most;
}

/// A graph whose outputs are set or whose last node makes the one, and what its inputs hold.
struct attention_case {
  graph_kit kit;
  std::vector<constant_ptr> inputs;

  value_id input(const std::string& name, std::vector<std::int64_t> dims) {
    shape sizes;
    for (const auto axis : dims)
      sizes.push_back(axis == 0 ? batch : axis);
    inputs.push_back(noise(sizes, static_cast<unsigned>(inputs.size()) + 7));
    return kit.input(name, std::move(dims));
  }
  value_id input(const std::string& name, std::vector<std::int64_t> dims, constant_ptr content) {
    inputs.push_back(std::move(content));
    return kit.input(name, std::move(dims), inputs.back()->type);
  }
  // Heads of [n, length, heads * of_size] brought forward.
  value_id split(value_id x, std::int64_t length, std::int64_t of_size,
                 std::vector<std::int64_t> to) {
    const auto apart_heads =
        kit.node("Reshape", {x, kit.constant(integers({4}, {0, length, heads, of_size}))});
    return kit.node("Transpose", {apart_heads}, with("perm", ints(std::move(to))));
  }
  value_id merge(value_id context) {
    context = kit.node("Transpose", {context}, with("perm", ints({0, 2, 1, 3})));
    return kit.node("Reshape",
                    {context, kit.constant(integers({3}, {0, queries, heads * value_size}))});
  }
  value_id weights(value_id scores) {
    return kit.node("Softmax", {scores}, with("axis", std::int64_t{-1}));
  }

  /// The outline after the passes, none of `off`; checks results and the proof of rows.
  std::string optimised(std::vector<std::string> off = {}) {
    if (kit.made.outputs.empty())
      kit.output(kit.made.nodes.back().outputs.front());
    const auto before = interpret(kit.made, inputs, cpu_device(2));
    if (!before)
      return to_string(before.error());
    const bool rows = graph::rows_independent(kit.made).independent;
    const auto reports = passes::run_passes(
        kit.made, {.disabled = std::move(off), .on = &cpu_device(2), .verify = true});
    if (!reports)
      return to_string(reports.error());
    BOOST_TEST(graph::rows_independent(kit.made).independent == rows);
    const auto after = interpret(kit.made, inputs, cpu_device(2));
    if (!after)
      return to_string(after.error());
    for (std::size_t i = 0; i < before->size(); ++i)
      BOOST_TEST(apart(*(*before)[i], *(*after)[i]) <= 1e-5);
    return outline(kit.made);
  }
};

struct heads_made {
  value_id q, turned_k, v;
};

// Queries, keys and values [n, length, heads * size] as BERT's exports split them.
heads_made split_all(attention_case& of) {
  const auto q = of.input("q", {0, queries, heads * size});
  const auto k = of.input("k", {0, keys, heads * size});
  const auto v = of.input("v", {0, keys, heads * value_size});
  return {of.split(q, queries, size, {0, 2, 1, 3}), of.split(k, keys, size, {0, 2, 3, 1}),
          of.split(v, keys, value_size, {0, 2, 1, 3})};
}

constexpr auto whole = "Reshape Reshape Reshape Attention Reshape";

} // namespace

BOOST_AUTO_TEST_CASE(heads_that_are_split_weighed_and_joined_are_one_operator) {
  attention_case of;
  const auto [q, k, v] = split_all(of);
  const auto scores =
      of.kit.node("Div", {of.kit.node("MatMul", {q, k}), of.kit.scalar(std::sqrt(10.0F))});
  of.merge(of.kit.node("MatMul", {of.weights(scores), v}));
  BOOST_TEST(of.optimised() == whole);
}

BOOST_AUTO_TEST_CASE(attention_stays_as_it_is_when_the_pass_is_off) {
  attention_case of;
  const auto [q, k, v] = split_all(of);
  of.merge(of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {q, k})), v}));
  BOOST_TEST(of.optimised({"fuse_attention"}).find("Softmax") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(masks_are_added_or_chosen_in_the_order_of_the_model) {
  const float lowest = std::numeric_limits<float>::lowest();
  std::vector<float> padding(batch * keys, 0.0F);
  std::fill(padding.begin() + 20, padding.begin() + keys, lowest);
  std::vector<std::uint8_t> causal;
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      causal.push_back(j <= i + 3 ? 1 : 0);
  for (const bool inverted : {false, true}) {
    attention_case of;
    const auto [q, k, v] = split_all(of);
    const auto added = of.input("padding", {0, 1, 1, keys}, floats({batch, 1, 1, keys}, padding));
    const auto open =
        of.input("causal", {1, 1, queries, keys}, truths({1, 1, queries, keys}, causal));
    auto scores = of.kit.node("Mul", {of.kit.scalar(0.25F), of.kit.node("MatMul", {q, k})});
    const auto number = of.kit.scalar(lowest);
    scores = inverted ? of.kit.node("Where", {of.kit.node("Not", {open}), number, scores})
                      : of.kit.node("Where", {open, scores, number});
    scores = of.kit.node("Add", {added, scores});
    of.merge(of.kit.node("MatMul", {of.weights(scores), v}));
    const std::string outline = inverted ? std::string{"Not "} + whole : whole;
    const auto found = of.optimised();
    BOOST_TEST((found == outline || found == "Reshape Reshape Reshape Not Attention Reshape"),
               found);
  }
}

BOOST_AUTO_TEST_CASE(a_query_without_keys_is_nan_or_zero_as_the_model_has_it) {
  constexpr float closed = -std::numeric_limits<float>::infinity();
  std::vector<float> mask(queries * keys, 0.0F);
  std::fill(mask.begin(), mask.begin() + 2 * keys, closed);
  std::fill(mask.begin() + 4 * keys, mask.begin() + 4 * keys + 30, closed);
  for (const bool zeros : {false, true}) {
    attention_case of;
    const auto [q, k, v] = split_all(of);
    const auto added = of.input("mask", {queries, keys}, floats({queries, keys}, mask));
    auto weights = of.weights(of.kit.node("Add", {of.kit.node("MatMul", {q, k}), added}));
    if (zeros)
      weights = of.kit.node("Where", {of.kit.node("IsNaN", {weights}), of.kit.scalar(0), weights});
    of.merge(of.kit.node("MatMul", {weights, v}));
    BOOST_TEST(of.optimised() == whole);
  }
}

BOOST_AUTO_TEST_CASE(factors_on_queries_and_keys_become_the_scale) {
  attention_case of;
  auto q = of.input("q", {0, heads, queries, size});
  auto k = of.input("k", {0, heads, keys, size});
  const auto v = of.input("v", {0, heads, keys, value_size});
  q = of.kit.node("Mul", {q, of.kit.scalar(0.5F)});
  k = of.kit.node("Mul", {of.kit.node("Transpose", {k}, with("perm", ints({0, 1, 3, 2}))),
                          of.kit.scalar(0.5F)});
  of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {q, k})), v});
  BOOST_TEST(of.optimised() == "Attention");
}

BOOST_AUTO_TEST_CASE(keys_may_be_turned_by_way_of_three_axes_or_come_turned) {
  attention_case of;
  const auto q = of.input("q", {0, heads, queries, size});
  auto k = of.input("k", {batch, heads, keys, size});
  const auto v = of.input("v", {batch, heads, keys, value_size});
  k = of.kit.node("Reshape", {k, of.kit.constant(integers({3}, {batch * heads, keys, size}))});
  k = of.kit.node("Transpose", {k}, with("perm", ints({0, 2, 1})));
  k = of.kit.node("Reshape", {k, of.kit.constant(integers({4}, {batch, heads, size, keys}))});
  of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {q, k})), v});
  of.kit.made.values[q].dims->front() = graph::dim{batch};
  BOOST_TEST(of.optimised() == "Attention");

  attention_case turned;
  const auto first = turned.input("q", {0, heads, queries, size});
  const auto second = turned.input("k", {0, heads, size, keys});
  const auto third = turned.input("v", {0, heads, keys, value_size});
  turned.kit.node("MatMul", {turned.weights(turned.kit.node("MatMul", {first, second})), third});
  BOOST_TEST(turned.optimised() == "Attention");
}

BOOST_AUTO_TEST_CASE(heads_of_all_batch_entries_together_are_three_axes) {
  attention_case of;
  const auto q = of.input("q", {queries, batch * heads, size});
  const auto k = of.input("k", {keys, batch * heads, size});
  const auto v = of.input("v", {keys, batch * heads, value_size});
  const auto first = of.kit.node("Transpose", {q}, with("perm", ints({1, 0, 2})));
  const auto second = of.kit.node("Transpose", {k}, with("perm", ints({1, 2, 0})));
  const auto third = of.kit.node("Transpose", {v}, with("perm", ints({1, 0, 2})));
  const auto context =
      of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {first, second})), third});
  of.kit.node("Transpose", {context}, with("perm", ints({1, 0, 2})));
  BOOST_TEST(of.optimised() == "Attention");
}

BOOST_AUTO_TEST_CASE(all_heads_of_queries_may_read_one_of_keys) {
  attention_case of;
  const auto q = of.input("q", {0, heads, queries, size});
  const auto k = of.input("k", {0, 1, size, keys});
  const auto v = of.input("v", {0, 1, keys, value_size});
  of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {q, k})), v});
  BOOST_TEST(of.optimised() == "Attention");
}

BOOST_AUTO_TEST_CASE(heads_of_keys_that_are_repeated_are_read_once) {
  attention_case of;
  auto& kit = of.kit;
  const auto q = of.input("q", {0, 6, queries, size});
  const auto repeated = [&](const char* name, std::int64_t width) {
    auto x = of.input(name, {0, 2, keys, width});
    x = kit.node("Unsqueeze", {x, kit.constant(integers({1}, {2}))});
    x = kit.node("Expand", {x, kit.constant(integers({5}, {1, 2, 3, keys, width}))});
    return kit.node("Reshape", {x, kit.constant(integers({4}, {0, 6, keys, width}))});
  };
  const auto k = kit.node("Transpose", {repeated("k", size)}, with("perm", ints({0, 1, 3, 2})));
  const auto v = repeated("v", value_size);
  kit.node("MatMul", {of.weights(kit.node("MatMul", {q, k})), v});
  BOOST_TEST(of.optimised() == "Attention");
}

BOOST_AUTO_TEST_CASE(a_mask_of_unknown_sizes_broadcasts_as_it_does_in_the_model) {
  for (const std::int64_t few : {1, 4}) {
    attention_case of;
    const auto q = of.input("q", {0, heads, few, size});
    const auto k = of.input("k", {0, heads, size, keys});
    const auto v = of.input("v", {0, heads, keys, value_size});
    std::vector<std::uint8_t> open(4 * keys, 1);
    std::fill(open.begin() + 5, open.begin() + 90, 0);
    const auto mask = of.input("mask", {1, 1, -1, -1}, truths({1, 1, 4, keys}, open));
    const auto scores =
        of.kit.node("Where", {mask, of.kit.node("MatMul", {q, k}), of.kit.scalar(-1e9F)});
    of.kit.node("MatMul", {of.weights(scores), v});
    BOOST_TEST(of.optimised() == "Attention");
  }
}

BOOST_AUTO_TEST_CASE(few_queries_and_no_keys_give_what_the_operators_give) {
  for (const std::int64_t few : {1, 2})
    for (const std::int64_t seen : {0, 1, 37}) {
      attention_case of;
      const auto q = of.input("q", {0, heads, few, size});
      const auto k = of.input("k", {0, heads, keys, size}, noise({batch, heads, seen, size}, 3));
      const auto v =
          of.input("v", {0, heads, keys, value_size}, noise({batch, heads, seen, value_size}, 4));
      for (const auto id : {k, v})
        (*of.kit.made.values[id].dims)[2] = graph::dim{seen};
      const auto turned = of.kit.node("Transpose", {k}, with("perm", ints({0, 1, 3, 2})));
      of.kit.node("MatMul", {of.weights(of.kit.node("MatMul", {q, turned})), v});
      BOOST_TEST(of.optimised() == "Attention");
    }
}

BOOST_AUTO_TEST_CASE(scores_or_weights_that_others_read_stay) {
  attention_case of;
  const auto [q, k, v] = split_all(of);
  const auto weights = of.weights(of.kit.node("MatMul", {q, k}));
  of.kit.output(of.merge(of.kit.node("MatMul", {weights, v})));
  of.kit.output(weights);
  BOOST_TEST(of.optimised().find("Softmax") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_mask_in_front_of_the_scale_and_another_axis_stay) {
  attention_case scaled;
  {
    const auto [q, k, v] = split_all(scaled);
    const auto mask = scaled.input("mask", {queries, keys});
    auto scores = scaled.kit.node("Add", {scaled.kit.node("MatMul", {q, k}), mask});
    scores = scaled.kit.node("Mul", {scores, scaled.kit.scalar(0.5F)});
    scaled.merge(scaled.kit.node("MatMul", {scaled.weights(scores), v}));
  }
  BOOST_TEST(scaled.optimised().find("Softmax") != std::string::npos);
  attention_case other;
  {
    const auto [q, k, v] = split_all(other);
    const auto weights = other.kit.node("Softmax", {other.kit.node("MatMul", {q, k})},
                                        with("axis", std::int64_t{2}));
    other.merge(other.kit.node("MatMul", {weights, v}));
  }
  BOOST_TEST(other.optimised().find("Softmax") != std::string::npos);
}

namespace {

// Attention of heads that [n, queries, 3 * heads * size] holds, as GPT-2's exports take them out.
value_id from_one_product(attention_case& of, value_id x) {
  auto& kit = of.kit;
  const auto sizes = kit.constant(integers({3}, {heads * size, heads * size, heads * size}));
  std::vector<value_id> parts;
  for (const auto* name : {"query", "key", "value"})
    parts.push_back(kit.made.add_value({.name = name}));
  kit.made.add_node({.name = "split",
                     .domain = "",
                     .op_type = "Split",
                     .version = 17,
                     .attributes = with("axis", std::int64_t{2}),
                     .inputs = {x, sizes},
                     .outputs = {parts.begin(), parts.end()},
                     .post_ops = {}});
  const auto q = of.split(parts[0], queries, size, {0, 2, 1, 3});
  const auto k = of.split(parts[1], queries, size, {0, 2, 3, 1});
  const auto v = of.split(parts[2], queries, size, {0, 2, 1, 3});
  return kit.node("Transpose", {kit.node("MatMul", {of.weights(kit.node("MatMul", {q, k})), v})},
                  with("perm", ints({0, 2, 1, 3})));
}

} // namespace

BOOST_AUTO_TEST_CASE(heads_of_one_product_are_read_where_they_are) {
  attention_case of;
  from_one_product(of, of.input("x", {0, queries, 3 * heads * size}));
  BOOST_TEST(of.optimised() == "Reshape Reshape Reshape Attention");
  attention_case off;
  from_one_product(off, off.input("x", {0, queries, 3 * heads * size}));
  BOOST_TEST(off.optimised({"read_heads_in_place"}) == "Split Reshape Reshape Reshape Attention");
}

BOOST_AUTO_TEST_CASE(parts_in_front_of_a_transpose_are_read_where_they_are) {
  attention_case of;
  auto& kit = of.kit;
  auto x = of.input("x", {0, queries, 3 * heads * size});
  x = kit.node("Reshape", {x, kit.constant(integers({5}, {0, queries, 3, heads, size}))});
  x = kit.node("Transpose", {x}, with("perm", ints({2, 0, 3, 1, 4})));
  const auto part = [&](std::int64_t index) {
    return kit.node("Gather", {x, kit.constant(integers({}, {index}))});
  };
  const auto q = kit.node("Mul", {part(0), kit.scalar(0.3F)});
  const auto k = kit.node("Transpose", {part(1)}, with("perm", ints({0, 1, 3, 2})));
  const auto v = part(-1);
  kit.node("Transpose", {kit.node("MatMul", {of.weights(kit.node("MatMul", {q, k})), v})},
           with("perm", ints({0, 2, 1, 3})));
  BOOST_TEST(of.optimised() == "Reshape Reshape Reshape Reshape Attention");
}
