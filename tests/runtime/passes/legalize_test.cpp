// What operators of other domains become, in outline; that they compute the same is compared with
// ONNX Runtime and scikit-learn (tests/numeric).

#include "runtime/graph/infer.hpp"
#include "runtime/passes/pass.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

// The kit's last node in another domain, rewritten; the error's text where it is refused.
std::string legal(graph_kit& kit, const std::string& domain = "com.microsoft",
                  std::size_t outputs = 1) {
  auto& of = kit.made.nodes.back();
  of.domain = domain;
  of.version = 1;
  while (of.outputs.size() < outputs)
    of.outputs.push_back(kit.made.add_value({.name = "more", .producer = 0}));
  const auto output = of.outputs.front();
  kit.output(output);
  if (auto good = graph::infer_all(kit.made); !good)
    return good.error().text;
  const auto dims = kit.made.values[output].dims;
  if (auto done = passes::legalize(kit.made, {}); !done)
    return done.error().text;
  BOOST_TEST((kit.made.values[output].dims == dims));
  return outline(kit.made);
}

} // namespace

BOOST_AUTO_TEST_CASE(transformer_operators_become_those_they_are_made_of) {
  graph_kit gelu;
  gelu.node("BiasGelu", {gelu.input("x", {0, 4}), gelu.constant(noise({4}, 1))});
  BOOST_TEST(legal(gelu) == "Add Gelu");
  graph_kit skip;
  const auto x = skip.input("x", {0, 3, 4});
  const auto gamma = skip.constant(noise({4}, 1));
  skip.node("SkipLayerNormalization", {x, x, gamma, gamma, gamma});
  BOOST_TEST(legal(skip) == "Add Add LayerNormalization");
  graph_kit product;
  product.node("FusedMatMul", {product.input("a", {0, 4, 3}), product.input("b", {0, 4, 5})},
               with({{"transA", std::int64_t{1}}, {"alpha", 0.5F}}));
  BOOST_TEST(legal(product) == "Transpose MatMul Mul");
}

BOOST_AUTO_TEST_CASE(attention_becomes_a_product_and_heads) {
  graph_kit kit;
  kit.node(
      "Attention",
      {kit.input("x", {0, -1, 6}), kit.constant(noise({6, 12}, 1)), kit.constant(noise({12}, 2))},
      with("num_heads", std::int64_t{2}));
  BOOST_TEST(legal(kit) == "MatMul Add Split MultiHeadAttention");
}

BOOST_AUTO_TEST_CASE(packed_heads_come_apart) {
  graph_kit all;
  all.node("MultiHeadAttention", {all.input("x", {0, -1, 2, 3, 4})},
           with("num_heads", std::int64_t{2}));
  BOOST_TEST(legal(all) == "Split Reshape Reshape Reshape MultiHeadAttention");
  graph_kit keys;
  keys.node("MultiHeadAttention", {keys.input("q", {0, 5, 8}), keys.input("kv", {0, -1, 2, 2, 4})},
            with("num_heads", std::int64_t{2}));
  BOOST_TEST(legal(keys) == "Split Reshape Reshape MultiHeadAttention");
  graph_kit wrong;
  wrong.node("MultiHeadAttention", {wrong.input("x", {0, 5, 2, 2, 4})},
             with("num_heads", std::int64_t{2}));
  BOOST_TEST(legal(wrong).find("3 in axis 3") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(flexible_attention_has_its_subgraph_between_product_and_softmax) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 2, -1, 4});
  const auto bias = kit.scalar(0.5F);
  kit.node("FlexAttention", {x, x, x});
  graph_kit body;
  const auto scores = body.input("scores", {-1, -1, -1, -1});
  const auto more = body.input("more", {});
  body.output(body.node("Add", {scores, more}));
  auto& of = kit.made.nodes.back();
  of.inputs.push_back(bias);
  of.captured = 1;
  of.subgraphs.push_back(
      {"score_mod", std::make_shared<const graph::graph>(std::move(body.made)), {3}});
  BOOST_TEST(legal(kit, "ai.onnx.preview") == "Mul Mul Transpose MatMul Add Softmax MatMul");
}

BOOST_AUTO_TEST_CASE(a_form_without_a_composition_is_refused_by_name) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 3, 4});
  const auto gamma = kit.constant(noise({4}, 1));
  kit.node("SkipLayerNormalization", {x, x, gamma});
  BOOST_TEST(legal(kit, "com.microsoft", 2).find("its output 1 is not supported")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(text_labels_are_looked_up_behind_the_classifier) {
  graph_kit kit;
  kit.node("LinearClassifier", {kit.input("x", {0, 2})},
           with({{"classlabels_strings", std::vector<std::string>{"no", "yes"}},
                 {"coefficients", std::vector<float>{1, 2, 3, 4}}}));
  BOOST_TEST(legal(kit, "ai.onnx.ml") == "LinearClassifier LabelEncoder");
  BOOST_TEST((kit.made.values[kit.made.outputs.front()].type == dtype::string));
}
