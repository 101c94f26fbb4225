#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/infer.hpp"
#include "tests/runtime/onnx/model_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

onnx::ModelProto old_model(int opset, const std::string& op_type,
                           std::initializer_list<std::string> inputs) {
  auto model = empty_model();
  model.mutable_opset_import(0)->set_version(opset);
  add_input(model, "x", {"n", "2", "3", "4"});
  add_input(model, "b", {"2"});
  add_node(model, op_type, inputs, {"y"});
  add_output(model, "y");
  return model;
}

onnx::NodeProto* first_node(onnx::ModelProto& of) {
  return of.mutable_graph()->mutable_node(0);
}

// What shape inference says of the second input of the last node.
std::string operand_dims(const onnx::ModelProto& model) {
  auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_REQUIRE(graph::infer_all(*made).has_value());
  const auto& operand = made->values[made->nodes.back().inputs.at(1)];
  return operand.dims ? graph::to_string(*operand.dims, *made) : "unknown";
}

} // namespace

BOOST_AUTO_TEST_CASE(what_an_old_opset_says_as_opset_7_does_is_taken_as_it_is) {
  for (const int opset : {1, 6}) {
    const auto made = import(old_model(opset, "Relu", {"x"}));
    BOOST_REQUIRE(made.has_value());
    BOOST_TEST(made->nodes.size() == 1U);
    BOOST_TEST(made->nodes[0].version == 7);
  }
}

BOOST_AUTO_TEST_CASE(a_model_older_than_opsets_is_of_the_first) {
  auto model = old_model(1, "Concat", {"x", "x"});
  model.clear_opset_import();
  BOOST_TEST(fails(model, errc::invalid_argument, {"imports no opset"}));
  model.set_ir_version(2);
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes[0].attributes.integer("axis", 0) == 1);
}

BOOST_AUTO_TEST_CASE(an_operand_along_an_axis_gets_the_axes_behind_it) {
  auto placed = old_model(6, "Add", {"x", "b"});
  add_attribute(*first_node(placed), "broadcast", 1);
  add_attribute(*first_node(placed), "axis", 1);
  BOOST_TEST(operand_dims(placed) == "[2,1,1]");
  const auto made = import(placed);
  BOOST_TEST(made->nodes.back().op_type == "Add");
  BOOST_TEST(made->nodes.back().attributes.size() == 0U);

  BOOST_TEST(operand_dims(old_model(6, "PRelu", {"x", "b"})) == "[2,1,1]");

  auto last = old_model(6, "Mul", {"x", "b"}); // along the last axes
  add_attribute(*first_node(last), "broadcast", 1);
  BOOST_TEST(import(last)->nodes.size() == 1U);

  auto negative = old_model(6, "Sub", {"x", "b"});
  add_attribute(*first_node(negative), "broadcast", 1);
  add_attribute(*first_node(negative), "axis", -1);
  BOOST_TEST(fails(negative, errc::unimplemented, {"(Sub)", "opset 6", "axis -1"}));
}

BOOST_AUTO_TEST_CASE(attributes_that_became_inputs_or_changed_their_names_move) {
  auto reshape = old_model(1, "Reshape", {"x"});
  auto* shape = first_node(reshape)->add_attribute();
  shape->set_name("shape");
  shape->set_type(onnx::AttributeProto::INTS);
  shape->add_ints(0);
  shape->add_ints(-1);
  BOOST_TEST(operand_dims(reshape) == "[2]");

  auto pad = old_model(1, "Pad", {"x"});
  auto* pads = first_node(pad)->add_attribute();
  pads->set_name("paddings");
  pads->set_type(onnx::AttributeProto::INTS);
  for (int side = 0; side < 8; ++side)
    pads->add_ints(side);
  const auto made = import(pad);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes[0].attributes.integers("pads").size() == 8U);
}

BOOST_AUTO_TEST_CASE(defaults_of_old_versions_are_written_out) {
  auto grown = old_model(6, "Upsample", {"x"});
  for (const auto& [name, factor] : {std::pair{"height_scale", 2.0F}, {"width_scale", 3.0F}}) {
    auto* scale = first_node(grown)->add_attribute();
    scale->set_name(name);
    scale->set_type(onnx::AttributeProto::FLOAT);
    scale->set_f(factor);
  }
  const auto made = import(grown);
  BOOST_REQUIRE(made.has_value());
  const auto* scales = made->nodes[0].attributes.find<std::vector<float>>("scales");
  BOOST_REQUIRE(scales != nullptr);
  BOOST_TEST((*scales == std::vector<float>{1, 1, 2, 3}));

  BOOST_TEST(import(old_model(3, "Concat", {"x", "x"}))->nodes[0].attributes.integer("axis", 0)
             == 1);
  BOOST_TEST(import(old_model(5, "Selu", {"x"}))->nodes[0].attributes.real("alpha", 0) == 1.6732F);
  BOOST_TEST(!import(old_model(6, "Selu", {"x"}))->nodes[0].attributes.has("alpha"));
}

BOOST_AUTO_TEST_CASE(what_opset_7_cannot_say_is_refused_with_the_node) {
  const auto refused = errc::unimplemented;
  auto dropout = old_model(6, "Dropout", {"x"});
  BOOST_TEST(fails(dropout, refused, {"(Dropout)", "opset 6", "trains"}));
  add_attribute(*first_node(dropout), "is_test", 1);
  BOOST_TEST(import(dropout).has_value());

  auto cast = old_model(5, "Cast", {"x"});
  auto* to = first_node(cast)->add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::STRING);
  to->set_s("FLOAT16");
  BOOST_TEST(fails(cast, refused, {"(Cast)", "opset 5", "opset 6 or newer"}));
}
