#include "runtime/onnx/import.hpp"

#include "tests/runtime/onnx/model_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_CASE(a_model_becomes_a_graph_with_names_versions_and_metadata) {
  auto model = relu_model();
  model.set_producer_name("kit");
  auto* entry = model.add_metadata_props();
  entry->set_key("character");
  entry->set_value("a\nb");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->name == "test");
  BOOST_TEST(made->producer == "kit");
  BOOST_TEST(made->metadata.at("character") == "a\nb");
  BOOST_REQUIRE(made->nodes.size() == 1U);
  BOOST_TEST(made->nodes[0].op_type == "Relu");
  BOOST_TEST(made->nodes[0].version == 17);
  BOOST_TEST(made->nodes[0].name == "Relu_y"); // it had none
  BOOST_TEST(made->inputs.size() == 1U);
  BOOST_TEST(made->values[made->outputs[0]].producer == 0U);
}

BOOST_AUTO_TEST_CASE(every_way_to_write_an_unknown_dim_is_an_unknown_of_its_own) {
  auto model = empty_model();
  add_input(model, "x", {"-1", "?", "", "n"});
  add_input(model, "y", {"n", "?", "7"});
  add_node(model, "Identity", {"x"}, {"z"});
  add_output(model, "z");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  const auto& x = *made->values[made->inputs[0]].dims;
  const auto& y = *made->values[made->inputs[1]].dims;
  for (std::size_t axis = 0; axis < 4; ++axis)
    BOOST_TEST(!x[axis].known());
  BOOST_TEST((x[0] != x[1] && x[1] != x[2] && x[0] != x[2] && x[1] != y[1]));
  BOOST_TEST((x[3] == y[0])); // a proper name is one symbol everywhere
  BOOST_TEST(made->symbols[y[0].symbol()] == "n");
  BOOST_TEST(y[2].size() == 7);
}

BOOST_AUTO_TEST_CASE(an_input_that_is_an_initializer_is_no_input_of_the_graph) {
  auto model = empty_model();
  add_input(model, "x", {"2"});
  add_input(model, "w", {"2"});
  auto* weight = add_initializer(model, "w", onnx::TensorProto::FLOAT, {2});
  weight->add_float_data(1.5F);
  weight->add_float_data(2.5F);
  add_node(model, "Add", {"x", "w"}, {"y"});
  add_output(model, "y");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->inputs.size() == 1U);
  BOOST_TEST(find_value(*made, "w")->constant != nullptr);
}

BOOST_AUTO_TEST_CASE(optional_inputs_left_out_keep_their_place) {
  auto model = empty_model();
  add_input(model, "x", {"2"});
  add_initializer(model, "most", onnx::TensorProto::FLOAT, {})->add_float_data(6);
  add_node(model, "Clip", {"x", "", "most"}, {"y"});
  add_node(model, "Clip", {"y", "", ""}, {"z"});
  add_output(model, "z");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes[0].inputs[1] == graph::no_value);
  BOOST_TEST(made->nodes[0].inputs[2] != graph::no_value);
  BOOST_TEST(made->nodes[1].inputs.size() == 1U);
}

BOOST_AUTO_TEST_CASE(constant_nodes_become_constants) {
  auto model = empty_model();
  auto* node = add_node(model, "Constant", {}, {"c"});
  auto* attribute = node->add_attribute();
  attribute->set_name("value_ints");
  attribute->set_type(onnx::AttributeProto::INTS);
  attribute->add_ints(3);
  attribute->add_ints(-1);
  add_output(model, "c");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes.empty());
  const auto& content = *made->values[made->outputs[0]].constant;
  BOOST_TEST(elements_of<std::int64_t>(content.data)[1] == -1);
  BOOST_TEST(content.dims.size() == 1U);
}

BOOST_AUTO_TEST_CASE(nodes_are_put_into_an_order_in_which_they_can_run) {
  auto model = empty_model();
  add_input(model, "x", {"2"});
  add_node(model, "Relu", {"b"}, {"y"});
  add_node(model, "Abs", {"a"}, {"b"});
  add_node(model, "Neg", {"x"}, {"a"});
  add_output(model, "y");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes[0].op_type == "Neg");
  BOOST_TEST(made->nodes[1].op_type == "Abs");
  BOOST_TEST(made->nodes[2].op_type == "Relu");
}

BOOST_AUTO_TEST_CASE(a_cycle_is_refused_with_the_nodes_in_it) {
  auto model = empty_model();
  add_input(model, "x", {"2"});
  add_node(model, "Add", {"x", "b"}, {"a"})->set_name("first");
  add_node(model, "Relu", {"a"}, {"b"})->set_name("second");
  add_output(model, "b");
  BOOST_TEST(fails(model, errc::invalid_argument, {"cycle", "'first' (Add)", "'second' (Relu)"}));
}

BOOST_AUTO_TEST_CASE(broken_references_are_refused_by_name) {
  auto missing = relu_model();
  add_node(missing, "Add", {"x", "nowhere"}, {"z"})->set_name("sum");
  BOOST_TEST(fails(missing, errc::invalid_argument, {"'sum' (Add)", "input 1 'nowhere'"}));

  auto twice = relu_model();
  add_node(twice, "Abs", {"x"}, {"y"});
  BOOST_TEST(fails(twice, errc::invalid_argument, {"'y'", "also produced elsewhere"}));

  auto output = relu_model();
  add_output(output, "z");
  BOOST_TEST(fails(output, errc::invalid_argument, {"graph output 'z'"}));

  auto inputs = relu_model();
  add_input(inputs, "x", {"1"});
  BOOST_TEST(fails(inputs, errc::invalid_argument, {"graph input 'x'"}));

  auto constants = relu_model();
  for (int copy = 0; copy < 2; ++copy)
    add_initializer(constants, "w", onnx::TensorProto::FLOAT, {})->add_float_data(1);
  BOOST_TEST(fails(constants, errc::invalid_argument, {"'w'", "two constants"}));
}

BOOST_AUTO_TEST_CASE(what_troupe_does_not_run_is_refused_with_the_node) {
  auto old = relu_model();
  old.mutable_opset_import(0)->set_version(0);
  BOOST_TEST(fails(old, errc::unimplemented, {"(Relu)", "opset 0", "1 to 28"}));

  auto foreign = relu_model();
  add_node(foreign, "Magic", {"y"}, {"z"})->set_domain("com.example");
  BOOST_TEST(fails(foreign, errc::invalid_argument, {"(Magic)", "com.example"}));

  auto other = relu_model();
  other.mutable_graph()->mutable_input(0)->mutable_type()->clear_tensor_type();
  BOOST_TEST(fails(other, errc::unimplemented, {"graph input 'x'", "a sequence of tensors"}));
}

namespace {

onnx::GraphProto* add_branch(onnx::NodeProto& to, const std::string& name) {
  auto* attribute = to.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  return attribute->mutable_g();
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_subgraph_reads_of_the_graph_around_it_is_an_input_of_the_node) {
  auto model = relu_model();
  add_initializer(model, "w", onnx::TensorProto::FLOAT, {})->add_float_data(1);
  auto* branch = add_node(model, "If", {"x"}, {"z"});
  auto* then = add_branch(*branch, "then_branch");
  auto* sum = then->add_node();
  sum->set_op_type("Add");
  sum->add_input("y");
  sum->add_input("w");
  sum->add_output("sum");
  then->add_output()->set_name("sum");
  add_branch(*branch, "else_branch")->add_output()->set_name("y");
  const auto made = import(model);
  BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().text));
  const auto& node = made->nodes.back();
  BOOST_TEST(node.captured == 1U); // `y` once; `w` is a constant of the branch
  BOOST_REQUIRE(node.subgraphs.size() == 2U);
  BOOST_TEST(node.subgraphs[0].body->inputs.size() == 1U);
  BOOST_TEST(find_value(*node.subgraphs[0].body, "w")->constant != nullptr);
}

BOOST_AUTO_TEST_CASE(subgraphs_nested_too_deeply_and_names_nobody_knows_are_refused) {
  auto deep = relu_model();
  auto* node = add_node(deep, "If", {"x"}, {"z"});
  for (int depth = 0; depth < 12; ++depth) {
    auto* inner = add_branch(*node, "then_branch");
    inner->add_output()->set_name("z");
    node = inner->add_node();
    node->set_op_type("If");
    node->add_input("x");
    node->add_output("z");
  }
  BOOST_TEST(fails(deep, errc::invalid_argument, {"(If)", "nested deeper"}));

  auto unknown = relu_model();
  add_branch(*add_node(unknown, "If", {"x"}, {"z"}), "then_branch")->add_output()->set_name("v");
  BOOST_TEST(fails(unknown, errc::invalid_argument, {"(If)", "then_branch", "'v'"}));
}

BOOST_AUTO_TEST_CASE(an_attribute_of_the_wrong_type_is_refused) {
  auto model = relu_model();
  auto* node = add_node(model, "Softmax", {"y"}, {"z"});
  auto* attribute = node->add_attribute();
  attribute->set_name("axis");
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(1.0F);
  BOOST_TEST(fails(model, errc::invalid_argument,
                   {"'z' (Softmax)", "'axis'", "INT expected", "FLOAT found"}));
}

BOOST_AUTO_TEST_CASE(functions_are_replaced_by_their_nodes) {
  auto model = empty_model();
  add_input(model, "x", {"2"});
  auto* function = model.add_functions();
  function->set_domain("local");
  function->set_name("leaky_twice");
  function->add_input("in");
  function->add_output("out");
  function->add_attribute("slope");
  function->add_opset_import()->set_version(16);
  for (int step = 0; step < 2; ++step) {
    auto* node = function->add_node();
    node->set_op_type("LeakyRelu");
    node->add_input(step == 0 ? "in" : "between");
    node->add_output(step == 0 ? "between" : "out");
    auto* alpha = node->add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(onnx::AttributeProto::FLOAT);
    alpha->set_ref_attr_name("slope");
  }
  model.add_opset_import()->set_domain("local");
  model.mutable_opset_import(1)->set_version(1);
  for (int call = 0; call < 2; ++call) {
    auto* node = add_node(model, "leaky_twice", {call == 0 ? "x" : "m"}, {call == 0 ? "m" : "y"});
    node->set_domain("local");
    auto* slope = node->add_attribute();
    slope->set_name("slope");
    slope->set_type(onnx::AttributeProto::FLOAT);
    slope->set_f(0.25F * static_cast<float>(call + 1));
  }
  add_output(model, "y");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_REQUIRE(made->nodes.size() == 4U);
  BOOST_TEST(made->nodes[0].op_type == "LeakyRelu");
  BOOST_TEST(made->nodes[0].version == 16); // the function's own opset
  BOOST_TEST(made->nodes[1].attributes.real("alpha", 0) == 0.25F);
  BOOST_TEST(made->nodes[3].attributes.real("alpha", 0) == 0.5F);
}

BOOST_AUTO_TEST_CASE(a_function_that_calls_itself_is_refused) {
  auto model = relu_model();
  auto* function = model.add_functions();
  function->set_domain("local");
  function->set_name("again");
  function->add_input("in");
  function->add_output("out");
  auto* inner = function->add_node();
  inner->set_domain("local");
  inner->set_op_type("again");
  inner->add_input("in");
  inner->add_output("out");
  add_node(model, "again", {"y"}, {"z"})->set_domain("local");
  BOOST_TEST(fails(model, errc::invalid_argument, {"'again'", "calls deep"}));
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_refused_and_named) {
  auto model = relu_model();
  set_raw_data(*add_initializer(model, "w", onnx::TensorProto::FLOAT, {4}), std::string(16, 'w'));
  const auto whole = model.SerializeAsString();
  const scratch_directory scratch;
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    const auto imported = onnx::import_file(scratch.write("cut.onnx", whole.substr(0, size)));
    // Cut between two fields, a file may still be a model, with less in it.
    if (!imported)
      BOOST_TEST(imported.error().text.find("cut.onnx") != std::string::npos);
  }
  BOOST_TEST(onnx::import_file(scratch.write("whole.onnx", whole)).has_value());
  BOOST_TEST((onnx::import_file(scratch.path / "none.onnx").error().code == errc::not_found));
  BOOST_TEST((onnx::import_file(scratch.path).error().code == errc::invalid_argument));
  BOOST_TEST(!onnx::import_file(scratch.write("text.onnx", "not a model")).has_value());
  BOOST_TEST(!onnx::import_file(scratch.write("empty.onnx", "")).has_value());
}

BOOST_AUTO_TEST_CASE(messages_nested_without_end_are_refused) {
  std::string bytes;
  for (int depth = 0; depth < 1000; ++depth) { // graph { node { attribute { g { node { …
    std::string wrapped{depth % 3 == 0 ? "\x0a" : depth % 3 == 1 ? "\x2a" : "\x32"};
    auto size = bytes.size();
    for (; size >= 0x80; size >>= 7)
      wrapped.push_back(static_cast<char>(size | 0x80));
    wrapped.push_back(static_cast<char>(size));
    bytes = wrapped + bytes;
  }
  std::string model{"\x3a"};
  auto size = bytes.size();
  for (; size >= 0x80; size >>= 7)
    model.push_back(static_cast<char>(size | 0x80));
  model.push_back(static_cast<char>(size));
  model += bytes;
  const auto imported = onnx::import_bytes(copy_of(std::as_bytes(std::span{model})));
  BOOST_REQUIRE(!imported.has_value());
  BOOST_TEST((imported.error().code == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(names_may_be_odd_missing_or_shared_between_kinds) {
  auto model = empty_model();
  model.mutable_graph()->clear_name();
  const std::string odd = "a/b:0 \xc3\xa9\n\"'";
  add_input(model, odd, {"2"});
  add_node(model, "Relu", {odd}, {std::string(5000, 'y')})->set_name("twin");
  add_node(model, "Abs", {std::string(5000, 'y')}, {"twin"})->set_name("twin");
  add_output(model, "twin");
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->nodes.size() == 2U);
  BOOST_TEST(made->values[made->inputs[0]].name == odd);

  auto unnamed = relu_model();
  add_initializer(unnamed, "", onnx::TensorProto::FLOAT, {});
  BOOST_TEST(fails(unnamed, errc::invalid_argument, {"initializer has no name"}));

  auto nothing = empty_model();
  add_input(nothing, "x", {"2"});
  BOOST_TEST(fails(nothing, errc::invalid_argument, {"no outputs"}));
}
