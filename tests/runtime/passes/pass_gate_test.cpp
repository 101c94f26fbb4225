#include "runtime/passes/pass_gate.hpp"

#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::test;

namespace {

graph_kit relu_chain() {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto y = kit.node("Identity", {kit.node("Exp", {x})});
  kit.output(kit.node("Relu", {y}));
  return kit;
}

} // namespace

BOOST_AUTO_TEST_CASE(each_pass_reports_its_changes_once) {
  auto kit = relu_chain();
  const auto reports = passes::run_passes(kit.made);
  BOOST_REQUIRE(reports.has_value());
  BOOST_TEST(outline(kit.made) == "Exp+relu");
  // Beside those that can be switched off stand drop_unread_outputs and legalize.
  BOOST_TEST(reports->size() == passes::pass_names().size() + 2);
  const auto changes = [&](const std::string& name) {
    return std::ranges::find(*reports, name, &passes::pass_report::name)->changes;
  };
  BOOST_TEST(changes("remove_no_ops") == 1U);
  BOOST_TEST(changes("fuse_activations") == 1U);
  BOOST_TEST(changes("find_gelu") == 0U);
}

BOOST_AUTO_TEST_CASE(a_disabled_pass_does_not_run) {
  auto kit = relu_chain();
  const auto reports = passes::run_passes(kit.made, {.disabled = {"fuse_activations"}});
  BOOST_REQUIRE(reports.has_value());
  BOOST_TEST(outline(kit.made) == "Exp Relu");
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_refused_with_the_known_ones) {
  auto kit = relu_chain();
  const auto reports = passes::run_passes(kit.made, {.disabled = {"fuse_everything"}});
  BOOST_REQUIRE(!reports.has_value());
  BOOST_TEST((reports.error().code == errc::invalid_argument));
  BOOST_TEST(reports.error().text.find("'fuse_everything'") != std::string::npos);
  BOOST_TEST(reports.error().text.find("fuse_activations") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_device_only_shapes_are_folded) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  const auto c = kit.node("Exp", {kit.constant(noise({4}, 1))});
  const auto target = kit.node("Shape", {kit.constant(noise({2, 2}, 1))});
  const auto y = kit.node("Sub", {x, c});
  kit.output(kit.node("Reshape", {y, kit.node("Concat", {kit.constant(integers({1}, {-1})), target},
                                              with("axis", std::int64_t{0}))}));
  const auto reports = passes::run_passes(kit.made);
  BOOST_REQUIRE(reports.has_value());
  BOOST_TEST(outline(kit.made) == "Exp Sub Reshape");
}

BOOST_AUTO_TEST_CASE(optional_outputs_that_nobody_reads_are_left_out) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 4});
  kit.output(kit.node("Relu", {kit.node("Dropout", {x}, {}, 7)}));
  auto& dropout = kit.made.nodes.front();
  dropout.outputs.push_back(kit.made.add_value({.name = "mask", .producer = 0}));
  auto read = kit;
  read.output(dropout.outputs[1]);
  BOOST_REQUIRE(passes::run_passes(kit.made).has_value());
  BOOST_TEST(outline(kit.made) == "Relu");
  BOOST_REQUIRE(passes::run_passes(read.made).has_value());
  BOOST_TEST(outline(read.made) == "Dropout Relu");
}

BOOST_AUTO_TEST_CASE(subgraphs_are_rewritten_too) {
  graph_kit body;
  const auto inside = body.input("inside", {});
  body.output(body.node("Gelu", {inside}));
  body.made.nodes.back().domain = "com.microsoft";
  const auto branch = std::make_shared<const graph::graph>(std::move(body.made));

  graph_kit kit;
  const auto condition = kit.input("condition", {}, dtype::boolean);
  const auto x = kit.input("x", {0, 4});
  kit.output(kit.node("If", {condition, x}));
  auto& of = kit.made.nodes.back();
  of.captured = 1;
  of.subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
  BOOST_REQUIRE(passes::run_passes(kit.made).has_value());
  for (const auto& rewritten : kit.made.nodes.back().subgraphs) {
    BOOST_REQUIRE(rewritten.body->nodes.size() == 1U);
    BOOST_TEST(rewritten.body->nodes.front().op_type == "Gelu");
    BOOST_TEST(rewritten.body->nodes.front().domain.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_graph_that_does_not_infer_is_refused) {
  graph_kit kit;
  kit.output(kit.node("MatMul", {kit.input("x", {2, 3}), kit.input("y", {4, 5})}));
  const auto reports = passes::run_passes(kit.made);
  BOOST_REQUIRE(!reports.has_value());
  BOOST_TEST((reports.error().code == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(what_inference_refuses_is_not_blamed_on_a_pass_before_it) {
  graph_kit kit;
  kit.output(kit.node("MatMul", {kit.input("x", {2, 3}), kit.input("y", {4, 5})}));
  const auto kept = kit.node("Dropout", {kit.input("z", {2})}, {}, 7);
  auto& dropout = kit.made.nodes.back();
  dropout.outputs.push_back(kit.made.add_value({.name = "unread", .producer = 1}));
  kit.output(kept);
  const auto reports = passes::run_passes(kit.made, {.verify = true});
  BOOST_REQUIRE(!reports.has_value());
  BOOST_TEST((reports.error().code == errc::invalid_argument));
  BOOST_TEST(reports.error().text.find("MatMul") != std::string::npos);
}
