#include "runtime/plan/build.hpp"

#include "fake_device.hpp"
#include "runtime/exec/run_state.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace troupe;

namespace {

/// A graph under construction; every method gives the value it made.
struct builder {
  graph::graph made;

  graph::value_id input(graph::symbolic_shape dims, std::string name = "x") {
    const auto id =
        made.add_value({std::move(name), dtype::float32, std::move(dims), nullptr, graph::no_node});
    made.inputs.push_back(id);
    return id;
  }

  graph::value_id ints(const std::vector<std::int64_t>& numbers) {
    auto constant = std::make_shared<tensor>();
    constant->type = dtype::int64;
    constant->dims = {static_cast<std::int64_t>(numbers.size())};
    constant->data = copy_of(std::as_bytes(std::span{numbers}));
    return made.add_value(
        {"ints", dtype::int64, std::nullopt, std::move(constant), graph::no_node});
  }

  graph::value_id node(std::string op, std::vector<graph::value_id> inputs,
                       attribute_map attributes = {}) {
    const auto name = fmt::format("{}_{}", op, made.nodes.size());
    const auto output = made.add_value({name + "_out", {}, {}, nullptr, graph::no_node});
    graph::node added;
    added.name = name;
    added.op_type = std::move(op);
    added.version = 13;
    added.attributes = std::move(attributes);
    added.inputs = std::move(inputs);
    added.outputs = {output};
    made.add_node(std::move(added));
    return output;
  }

  graph::value_id transpose(graph::value_id of, std::vector<std::int64_t> perm) {
    attribute_map attributes;
    attributes.set("perm", std::move(perm));
    return node("Transpose", {of}, std::move(attributes));
  }
};

result<std::shared_ptr<const plan::plan>> plan_of(const graph::graph& of, test::fake_device& on,
                                                  const std::vector<shape>& dims) {
  weight_cache weights;
  return plan::build(of, dims, on, weights);
}

std::vector<std::string> operators(const plan::plan& of) {
  std::vector<std::string> names;
  for (const auto& step : of.steps)
    names.push_back(step.op_type);
  return names;
}

/// Runs a plan on inputs in an arena full of rubbish; gives each output.
std::vector<std::vector<float>> run(const std::shared_ptr<const plan::plan>& of,
                                    const std::vector<std::vector<float>>& inputs) {
  exec::run_state state{of};
  auto arena = allocate_aligned(of->arena_bytes + 1);
  std::fill_n(arena.get(), of->arena_bytes + 1, std::byte{0x5a});
  state.bind(arena.get());
  for (std::size_t index = 0; index < inputs.size(); ++index)
    state.set_input(index, reinterpret_cast<const std::byte*>(inputs[index].data()));
  std::vector<std::vector<float>> outputs;
  for (const auto& output : of->outputs)
    outputs.emplace_back(static_cast<std::size_t>(output.elements()), -1.0F);
  for (std::size_t index = 0; index < outputs.size(); ++index)
    state.set_output(index, reinterpret_cast<std::byte*>(outputs[index].data()));
  test::fake_stream stream;
  const auto done = state.launch(stream);
  BOOST_REQUIRE_MESSAGE(done.has_value(), done.error().text);
  BOOST_REQUIRE(arena[of->arena_bytes] == std::byte{0x5a});
  return outputs;
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t index = 0; index < count; ++index)
    made[index] = static_cast<float>(index * 7 % 101);
  return made;
}

/// The same graph, node by node, nothing shared.
std::vector<std::vector<float>> expected(const graph::graph& of, const std::vector<float>& input) {
  std::vector<std::vector<float>> values(of.values.size());
  values[of.inputs[0]] = input;
  for (const auto& node : of.nodes) {
    std::vector<std::vector<float>> inputs;
    for (auto id : node.inputs)
      if (!of.values[id].constant)
        inputs.push_back(values[id]);
    const bool moves = node.op_type == "Reshape" || node.op_type == "Identity";
    values[node.outputs[0]] = moves ? inputs[0] : test::mixed(node.op_type, inputs, input.size());
  }
  std::vector<std::vector<float>> outputs;
  for (auto id : of.outputs)
    outputs.push_back(values[id]);
  return outputs;
}

/// All values have dims [2,8,6,4] or, once reshaped, [2,192]; operators meet only their own kind.
graph::graph random_graph(std::mt19937& random) {
  builder build;
  std::vector<graph::value_id> images{build.input({2, 8, 6, 4})};
  std::vector<graph::value_id> rows;
  const auto pick = [&](const std::vector<graph::value_id>& from) {
    return from[from.size() - 1 - random() % std::min<std::size_t>(from.size(), 4)];
  };
  const auto count = 3 + random() % 40;
  for (std::size_t step = 0; step < count; ++step) {
    const bool on_rows = !rows.empty() && random() % 3 == 0;
    auto& values = on_rows ? rows : images;
    switch (random() % 7) {
      case 0: values.push_back(build.node("Add", {pick(values), pick(values)})); break;
      case 1:
        values.push_back(build.node("Softmax", {pick(values)})); // works on row-major alone
        break;
      case 2:
        if (on_rows)
          images.push_back(build.node("Reshape", {pick(rows), build.ints({2, 8, 6, 4})}));
        else
          rows.push_back(build.node("Reshape", {pick(images), build.ints({2, -1})}));
        break;
      case 3: values.push_back(build.node("Identity", {pick(values)})); break;
      case 4:
        values.push_back(build.node("Tanh", {pick(values)})); // prefers channels-last
        break;
      default: values.push_back(build.node(random() % 2 ? "Relu" : "Sigmoid", {pick(values)}));
    }
  }
  const auto outputs = 1 + random() % 3;
  for (std::size_t index = 0; index < outputs; ++index)
    build.made.outputs.push_back(pick(!rows.empty() && random() % 2 ? rows : images));
  return build.made;
}

test::fake_device device_with_layouts() {
  test::fake_device device;
  device.rules = {{"Tanh", layout_rule::prefers_channels_last},
                  {"Relu", layout_rule::follows},
                  {"Sigmoid", layout_rule::follows},
                  {"Add", layout_rule::follows}};
  return device;
}

} // namespace

BOOST_AUTO_TEST_SUITE(build)

BOOST_AUTO_TEST_CASE(plans_of_random_graphs_compute_what_their_nodes_compute) {
  std::mt19937 random{11};
  std::size_t in_place = 0;
  std::size_t reorders = 0;
  for (int round = 0; round < 300; ++round) {
    const auto graph = random_graph(random);
    auto device = device_with_layouts();
    const auto made = plan_of(graph, device, {shape{2, 8, 6, 4}});
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
    const auto input = numbers(2 * 192);
    BOOST_REQUIRE(run(*made, {input}) == expected(graph, input));
    BOOST_REQUIRE_GE((*made)->arena_bytes, (*made)->live_bound_bytes);
    in_place += (*made)->in_place;
    const auto names = operators(**made);
    reorders += static_cast<std::size_t>(std::ranges::count(names, "Reorder"));
  }
  BOOST_TEST(in_place > 300u);
  BOOST_TEST(reorders > 300u);
}

BOOST_AUTO_TEST_CASE(the_same_shapes_give_the_same_plan) {
  std::mt19937 random{5};
  const auto graph = random_graph(random);
  auto device = device_with_layouts();
  const auto one = plan_of(graph, device, {shape{2, 8, 6, 4}});
  const auto other = plan_of(graph, device, {shape{2, 8, 6, 4}});
  BOOST_REQUIRE(one.has_value() && other.has_value());
  BOOST_TEST(operators(**one) == operators(**other), boost::test_tools::per_element());
  for (std::size_t index = 0; index < (*one)->steps.size(); ++index)
    BOOST_TEST((*one)->steps[index].outputs[0].at.offset
               == (*other)->steps[index].outputs[0].at.offset);
}

BOOST_AUTO_TEST_CASE(a_chain_of_element_wise_operators_needs_no_arena) {
  builder build;
  auto value = build.input({4, 5});
  for (int step = 0; step < 5; ++step)
    value = build.node("Relu", {value});
  build.made.outputs = {value};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{4, 5}});
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST((*made)->arena_bytes == 0u); // all but the first write over the caller's output
  BOOST_TEST((*made)->in_place == 4u);
  BOOST_CHECK((*made)->steps[0].inputs[0].at.where == plan::place::input);
  BOOST_CHECK((*made)->steps[0].outputs[0].at.where == plan::place::output);
}

BOOST_AUTO_TEST_CASE(what_is_read_again_is_not_written_over) {
  builder build;
  const auto x = build.input({4, 5});
  const auto kept = build.node("Softmax", {x});
  const auto changed = build.node("Relu", {kept});
  build.made.outputs = {build.node("Softmax", {build.node("Add", {kept, changed})})};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{4, 5}});
  BOOST_REQUIRE(made.has_value());
  const auto& steps = (*made)->steps;
  BOOST_TEST(steps[1].outputs[0].at.offset != steps[0].outputs[0].at.offset);
  BOOST_TEST(steps[2].outputs[0].at.offset
             == steps[0].outputs[0].at.offset); // Add writes over `kept`
}

BOOST_AUTO_TEST_CASE(views_are_no_steps_even_on_the_way_to_an_output) {
  builder build;
  const auto x = build.input({2, 3, 4});
  const auto flat = build.node("Reshape", {build.node("Relu", {x}), build.ints({-1})});
  build.made.outputs = {build.node("Reshape", {flat, build.ints({6, 4})})};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{2, 3, 4}});
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(operators(**made) == std::vector<std::string>{"Relu"},
             boost::test_tools::per_element());
  BOOST_TEST((*made)->views == 2u);
  BOOST_CHECK((*made)->steps[0].outputs[0].at.where == plan::place::output);
  BOOST_TEST(to_string((*made)->outputs[0].dims) == "[6,4]");
}

BOOST_AUTO_TEST_CASE(an_output_that_is_an_input_or_asked_for_twice_is_copied) {
  builder build;
  const auto x = build.input({2, 3});
  const auto y = build.node("Relu", {x});
  build.made.outputs = {x, y, y};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{2, 3}});
  BOOST_REQUIRE(made.has_value());
  const auto input = numbers(6);
  const auto outputs = run(*made, {input});
  BOOST_TEST(outputs[0] == input, boost::test_tools::per_element());
  BOOST_TEST(outputs[1] == outputs[2], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(channels_last_goes_from_kernel_to_kernel_through_what_follows) {
  builder build;
  auto value = build.node("Tanh", {build.input({1, 8, 6, 4})});
  value = build.node("Tanh", {build.node("Relu", {value})});
  build.made.outputs = {value};
  auto device = device_with_layouts();
  const auto made = plan_of(build.made, device, {shape{1, 8, 6, 4}});
  BOOST_REQUIRE(made.has_value());
  const std::vector<std::string> wanted{"Reorder", "Tanh", "Relu", "Tanh", "Reorder"};
  BOOST_TEST(operators(**made) == wanted, boost::test_tools::per_element());
  BOOST_CHECK((*made)->steps[2].inputs[0].desc.format == layout::channels_last);
}

BOOST_AUTO_TEST_CASE(features_become_rows_without_a_step) {
  builder build;
  const auto features = build.node("Tanh", {build.input({2, 8, 1, 5})});
  const auto squeezed = build.node("Squeeze", {features, build.ints({2})});
  build.made.outputs = {build.node("Relu", {build.transpose(squeezed, {0, 2, 1})})};
  auto device = device_with_layouts();
  const auto made = plan_of(build.made, device, {shape{2, 8, 1, 5}});
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  const std::vector<std::string> wanted{"Reorder", "Tanh", "Relu"};
  BOOST_TEST(operators(**made) == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shape_arithmetic_is_done_while_planning) {
  builder build;
  const auto x = build.input({graph::dim::symbol(0), 3, 4});
  const auto dims = build.node("Shape", {x});
  build.made.outputs = {build.node("Relu", {build.node("Reshape", {x, dims})})};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{5, 3, 4}});
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  BOOST_TEST(operators(**made) == std::vector<std::string>{"Relu"},
             boost::test_tools::per_element());
  BOOST_TEST((*made)->known == 1u);
}

BOOST_AUTO_TEST_CASE(empty_tensors_take_no_steps) {
  builder build;
  build.made.outputs = {
      build.node("Relu", {build.node("Softmax", {build.input({graph::dim::symbol(0), 3})})})};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{0, 3}});
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  BOOST_TEST((*made)->steps.empty());
  BOOST_TEST((*made)->arena_bytes == 0u);
  BOOST_TEST(run(*made, {{}})[0].empty());
}

BOOST_AUTO_TEST_CASE(dims_that_do_not_fit_are_refused_by_name) {
  builder build;
  const auto x = build.input({graph::dim::symbol(0), 3}, "left");
  build.input({graph::dim::symbol(0), 4}, "right");
  build.made.outputs = {build.node("Relu", {x})};
  test::fake_device device;
  const auto text = [&](const std::vector<shape>& dims) {
    const auto made = plan_of(build.made, device, dims);
    BOOST_REQUIRE(!made.has_value());
    BOOST_CHECK(made.error().code == errc::invalid_argument);
    return made.error().text;
  };
  BOOST_TEST(text({shape{1, 3}}) == "the model has 2 inputs, but shapes of 1 came");
  BOOST_TEST(text({shape{1, 3, 1}, shape{1, 4}}) == "input 'left' has 2 dims, but [1,3,1] came");
  BOOST_TEST(text({shape{1, 5}, shape{1, 4}}) == "input 'left': axis 1 must be 3, but [1,5] came");
  BOOST_TEST(text({shape{2, 3}, shape{1, 4}}) == "input 'right': axis 0 must be 2, but [1,4] came");
  BOOST_TEST(text({shape{-1, 3}, shape{1, 4}}) == "input 'left': shape [-1,3] has a negative size");
}

BOOST_AUTO_TEST_CASE(a_node_nobody_takes_is_named) {
  builder build;
  build.made.outputs = {build.node("Erf", {build.input({2})})};
  test::fake_device device;
  const auto made = plan_of(build.made, device, {shape{2}});
  BOOST_REQUIRE(!made.has_value());
  BOOST_CHECK(made.error().code == errc::unimplemented);
  BOOST_TEST(made.error().text == "node 'Erf_0' (Erf): nobody takes it");
}

BOOST_AUTO_TEST_SUITE_END()
