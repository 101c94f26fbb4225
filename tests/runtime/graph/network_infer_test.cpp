// Shapes of recurrent layers, attention and mathematical operators, with symbols.

#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/infer.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

// Dims of the outputs of the kit's last node, which gets `outputs` of them, or the error.
std::string last_dims(graph_kit& kit, std::size_t outputs = 1) {
  auto& last = kit.made.nodes.back();
  while (last.outputs.size() < outputs)
    last.outputs.push_back(kit.made.add_value({.name = "more"}));
  if (const auto done = graph::infer_all(kit.made); !done)
    return done.error().text;
  std::string text;
  for (const auto id : last.outputs) {
    const auto& dims = kit.made.values[id].dims;
    text += dims ? graph::to_string(std::span<const graph::dim>{*dims}, kit.made) : "?";
  }
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  BOOST_TEST_MESSAGE(text);
  return text.find(part) != std::string::npos;
}

graph::value_id number(graph_kit& kit, std::int64_t content) {
  return kit.constant(integers({}, {content}));
}

} // namespace

BOOST_AUTO_TEST_CASE(a_recurrent_layer_answers_all_steps_and_the_last_states) {
  const auto lstm = [](attribute_map attributes, std::vector<std::int64_t> x) {
    graph_kit kit;
    kit.node("LSTM",
             {kit.input("x", std::move(x)), kit.constant(noise({2, 16, 3}, 1)),
              kit.constant(noise({2, 16, 4}, 2))},
             std::move(attributes), 14);
    return last_dims(kit, 3);
  };
  auto both = with("direction", std::string{"bidirectional"});
  BOOST_TEST(lstm(both, {5, 0, 3}) == "[5,2,n,4][2,n,4][2,n,4]");
  BOOST_TEST(holds(lstm(both, {5, 0, 7}), "input 1 with size 7 in axis 2 expected"));
  BOOST_TEST(holds(lstm({}, {5, 0, 3}), "input 2 with size 1 in axis 0 expected"));
  both.set("layout", std::int64_t{1});
  BOOST_TEST(lstm(both, {0, 5, 3}) == "[n,5,2,4][n,2,4][n,2,4]");
}

BOOST_AUTO_TEST_CASE(attention_adds_what_came_before_to_the_keys) {
  graph_kit kit;
  const auto q = kit.input("q", {0, 4, 1, 8});
  const auto k = kit.input("k", {0, 2, 1, 8});
  const auto past = kit.input("past", {0, 2, 6, 8});
  kit.node("Attention", {q, k, k, graph::no_value, past, past}, {}, 23);
  BOOST_TEST(last_dims(kit, 4) == "[n,4,1,8][n,2,7,8][n,2,7,8][n,4,1,7]");
  graph_kit together;
  const auto x = together.input("x", {0, 5, 12});
  together.node("Attention", {x, x, x},
                with({{"q_num_heads", std::int64_t{5}}, {"kv_num_heads", std::int64_t{3}}}), 23);
  BOOST_TEST(holds(last_dims(together), "a size of 5 heads expected, 12 found"));
}

BOOST_AUTO_TEST_CASE(fused_attention_has_the_dims_that_its_permutations_give) {
  const auto attend = [](attribute_map changed) {
    graph_kit kit;
    const auto x = kit.input("x", {0, 5, 9, 8});
    const auto v = kit.input("v", {0, 3, 7, 6});
    const auto mask = kit.input("mask", {5, 7});
    attribute_map attributes = with({{"q_perm", ints({0, 2, 1, 3})},
                                     {"k_perm", ints({0, 2, 1, 3})},
                                     {"v_perm", ints({0, 1, 2, 3})},
                                     {"out_perm", ints({0, 2, 1, 3})}});
    for (const auto& [name, content] : changed)
      attributes.set(name, content);
    kit.node("Attention", {x, x, v, mask}, attributes, 1);
    kit.made.nodes.back().domain = "troupe";
    return last_dims(kit);
  };
  BOOST_TEST(attend({}) == "[n,5,9,6]");
  BOOST_TEST(attend(with("heads", std::int64_t{3})) == "[n,5,3,6]");
  BOOST_TEST(holds(attend(with("heads", std::int64_t{-3})), "0 heads or more expected"));
  BOOST_TEST(holds(attend(with("k_perm", ints({0, 2, 1}))), "permutations of 3 or 4 axes"));
  BOOST_TEST(holds(attend(with("out_perm", ints({0, 2, 1, 4}))), "permutations of 3 or 4 axes"));
}

BOOST_AUTO_TEST_CASE(an_einstein_sum_has_the_sizes_of_its_indices) {
  const auto sum = [](const char* equation) {
    graph_kit kit;
    kit.node("Einsum", {kit.input("x", {0, 4, 5}), kit.constant(noise({5, 6}, 1))},
             with("equation", std::string{equation}));
    return last_dims(kit);
  };
  BOOST_TEST(sum("bij,jk->kib") == "[6,4,n]");
  BOOST_TEST(sum("...j,jk") == "[n,4,6]");
  BOOST_TEST(holds(sum("bij,ik->bk"), "input 1 with size 4 in axis 0 expected, [5,6] found"));
  BOOST_TEST(holds(sum("bij"), "terms for 2 operands expected"));
}

BOOST_AUTO_TEST_CASE(transforms_count_their_frequencies_and_frames) {
  graph_kit half;
  half.node("DFT", {half.input("x", {0, 10, 1})}, with("onesided", std::int64_t{1}), 17);
  BOOST_TEST(last_dims(half) == "[n,6,2]");
  graph_kit back;
  back.node("DFT", {back.input("x", {0, 6, 2})},
            with({{"onesided", std::int64_t{1}}, {"inverse", std::int64_t{1}}}), 20);
  BOOST_TEST(last_dims(back) == "[n,10,1]");
  graph_kit frames;
  frames.node("STFT",
              {frames.input("x", {0, 100, 1}), number(frames, 10), frames.constant(noise({20}, 1))},
              {}, 17);
  BOOST_TEST(last_dims(frames) == "[n,9,11,2]");
  graph_kit window;
  window.node("HannWindow", {number(window, 9)}, {}, 17);
  BOOST_TEST(last_dims(window) == "[9]");
}

BOOST_AUTO_TEST_CASE(parameters_of_groups_became_those_of_channels_in_opset_21) {
  const auto normalize = [](std::int64_t parameters, int version) {
    graph_kit kit;
    const auto p = kit.constant(noise({parameters}, 1));
    kit.node("GroupNormalization", {kit.input("x", {0, 6, 4}), p, p},
             with("num_groups", std::int64_t{2}), version);
    return last_dims(kit);
  };
  BOOST_TEST(normalize(2, 18) == "[n,6,4]");
  BOOST_TEST(normalize(6, 21) == "[n,6,4]");
  BOOST_TEST(holds(normalize(2, 21), "input 1 with size 6 in axis 0 expected"));
}
