#include "runtime/dynamic/program.hpp"

#include "kernels/cpu/cpu_device.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace troupe;
using namespace troupe::test;

namespace {

tensor truth(bool answer) {
  const std::uint8_t element = answer ? 1 : 0;
  return {dtype::boolean, {}, copy_of(std::as_bytes(std::span{&element, 1}))};
}

/// A program and what it needs to live.
struct rig {
  std::shared_ptr<device> on = *cpu::make_cpu_device({.threads = 1});
  weight_cache weights;
  std::shared_ptr<const dynamic::program> made;

  explicit rig(graph::graph of) {
    const auto passed = passes::run_passes(of, {.on = on.get(), .verify = true});
    BOOST_REQUIRE_MESSAGE(passed.has_value(), (passed ? "" : passed.error().text));
    BOOST_TEST(dynamic::needs_program(of));
    auto program = dynamic::program::make(std::move(of), {on.get(), on.get(), &weights});
    BOOST_REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().text));
    made = *std::move(program);
  }

  result<std::vector<datum>> run(const std::vector<datum>& inputs,
                                 const std::function<bool()>& stopped = {}) {
    auto stream = on->open_stream(stream_mode::inline_);
    BOOST_REQUIRE(stream.has_value());
    result<std::vector<datum>> outputs;
    (*stream)->submit(
        [&](troupe::stream& in) -> result<void> {
          outputs = made->run(inputs, {in, stopped});
          return {};
        },
        [](result<void>) {});
    return outputs;
  }
};

const tensor& tensor_at(const result<std::vector<datum>>& made, std::size_t index) {
  BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().text));
  const auto* content = std::get_if<tensor>(&made->at(index));
  BOOST_REQUIRE(content != nullptr);
  return *content;
}

std::vector<std::int64_t> integers_in(const tensor& of) {
  const auto all = elements_of<std::int64_t>(of.data);
  return {all.begin(), all.end()};
}

void add_subgraph(graph::graph& to, graph::value_id output, const std::string& name,
                  graph::graph body, std::vector<std::size_t> captures) {
  auto& of = to.nodes[to.values[output].producer];
  of.subgraphs.push_back(
      {name, std::make_shared<const graph::graph>(std::move(body)), std::move(captures)});
}

/// A Loop that adds the captured `step` to what it carries as long as the sum is below `limit`, and
/// keeps every sum.
graph::graph counting_loop(float limit) {
  graph_kit body;
  body.input("i", {}, dtype::int64);
  body.input("go_on", {}, dtype::boolean);
  const auto carried = body.input("carried", {1});
  const auto step = body.input("step", {1});
  const auto sum = body.node("Add", {carried, step});
  const auto below = body.node("Less", {sum, body.constant(floats({1}, {limit}))});
  const auto go_on = body.node("Squeeze", {below, body.constant(integers({1}, {0}))});
  body.output(go_on);
  body.output(sum);
  body.output(sum);

  graph_kit kit;
  const auto most = kit.input("most", {}, dtype::int64);
  const auto first = kit.input("first", {1});
  const auto by = kit.input("by", {1});
  const auto last = kit.node("Loop", {most, graph::no_value, first, by});
  auto& loop = kit.made.nodes[kit.made.values[last].producer];
  loop.captured = 1;
  const auto all = kit.made.add_value({.name = "all", .producer = kit.made.values[last].producer});
  loop.outputs.push_back(all);
  add_subgraph(kit.made, last, "body", body.made, {3});
  kit.output(last);
  kit.output(all);
  return kit.made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(dynamic_programs)

BOOST_AUTO_TEST_CASE(a_loop_ends_when_its_condition_says_so) {
  rig loop{counting_loop(7)};
  const auto made = loop.run({*integers({}, {100}), *floats({1}, {1}), *floats({1}, {2})});
  BOOST_TEST(floats_in(tensor_at(made, 0)) == (std::vector<float>{7}));
  BOOST_TEST(floats_in(tensor_at(made, 1)) == (std::vector<float>{3, 5, 7}));
  BOOST_TEST(to_string(tensor_at(made, 1).dims) == "[3,1]");
}

BOOST_AUTO_TEST_CASE(a_loop_without_iterations_gives_what_came_in_and_an_empty_list) {
  rig loop{counting_loop(7)};
  const auto made = loop.run({*integers({}, {0}), *floats({1}, {1}), *floats({1}, {2})});
  BOOST_TEST(floats_in(tensor_at(made, 0)) == (std::vector<float>{1}));
  BOOST_TEST(to_string(tensor_at(made, 1).dims) == "[0,1]");
}

BOOST_AUTO_TEST_CASE(a_loop_without_end_stops_when_nobody_waits_any_more) {
  rig loop{counting_loop(std::numeric_limits<float>::infinity())};
  int asked = 0;
  const auto made = loop.run({*integers({}, {std::numeric_limits<std::int64_t>::max()}),
                              *floats({1}, {0}), *floats({1}, {0})},
                             [&] { return ++asked > 50; });
  BOOST_REQUIRE(!made.has_value());
  BOOST_TEST((made.error().code == errc::cancelled));
}

BOOST_AUTO_TEST_CASE(a_branch_reads_values_of_two_graphs_around_it) {
  graph_kit doubles;
  const auto x = doubles.input("x", {2});
  const auto y = doubles.input("y", {2});
  doubles.output(doubles.node("Add", {x, y}));
  graph_kit keeps;
  keeps.output(keeps.node("Neg", {keeps.input("x", {2})}));

  graph_kit body;
  body.input("i", {}, dtype::int64);
  const auto go_on = body.input("go_on", {}, dtype::boolean);
  const auto carried = body.input("carried", {2});
  const auto choice = body.input("choice", {}, dtype::boolean);
  const auto added = body.input("added", {2});
  const auto either = body.node("If", {choice, carried, added});
  body.made.nodes[body.made.values[either].producer].captured = 2;
  add_subgraph(body.made, either, "then_branch", doubles.made, {1, 2});
  add_subgraph(body.made, either, "else_branch", keeps.made, {1});
  body.output(go_on);
  body.output(either);

  graph_kit kit;
  const auto first = kit.input("first", {2});
  const auto chosen = kit.input("chosen", {}, dtype::boolean);
  const auto more = kit.input("more", {2});
  const auto last =
      kit.node("Loop", {kit.constant(integers({}, {3})), graph::no_value, first, chosen, more});
  kit.made.nodes[kit.made.values[last].producer].captured = 2;
  add_subgraph(kit.made, last, "body", body.made, {3, 4});
  kit.output(last);
  rig nested{kit.made};
  const auto sums = nested.run({*floats({2}, {1, 2}), truth(true), *floats({2}, {10, 20})});
  BOOST_TEST(floats_in(tensor_at(sums, 0)) == (std::vector<float>{31, 62}));
  const auto negated = nested.run({*floats({2}, {1, 2}), truth(false), *floats({2}, {10, 20})});
  BOOST_TEST(floats_in(tensor_at(negated, 0)) == (std::vector<float>{-1, -2}));
}

BOOST_AUTO_TEST_CASE(what_follows_a_size_that_depends_on_data_is_planned_when_it_is_known) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 2});
  const auto size = kit.input("size", {1}, dtype::int64);
  const auto scaled = kit.node("Mul", {x, kit.scalar(2)});
  const auto head = kit.node("Slice", {scaled, kit.constant(integers({1}, {0})), size});
  kit.output(kit.node("Relu", {kit.node("Add", {head, kit.scalar(1)})}));
  rig cut{kit.made};
  const auto x_data = floats({3, 2}, {1, -2, 3, 4, 5, 6});
  const auto one = cut.run({*x_data, *integers({1}, {1})});
  BOOST_TEST(floats_in(tensor_at(one, 0)) == (std::vector<float>{3, 0}));
  const auto two = cut.run({*x_data, *integers({1}, {2})});
  BOOST_TEST(floats_in(tensor_at(two, 0)) == (std::vector<float>{3, 0, 7, 9}));
}

BOOST_AUTO_TEST_CASE(kernels_run_before_and_behind_nodes_that_make_their_outputs) {
  graph_kit kit;
  const auto x = kit.input("x", {0});
  const auto found = kit.node("NonZero", {kit.node("Relu", {x})});
  kit.output(kit.node("Mul", {found, kit.constant(integers({1}, {10}))}));
  rig mixed{kit.made};
  const auto made = mixed.run({*floats({4}, {1, -1, 0, 2})});
  BOOST_TEST(integers_in(tensor_at(made, 0)) == (std::vector<std::int64_t>{0, 30}));
  const auto parts = mixed.made->describe();
  BOOST_TEST(parts.regions == 2U);
  BOOST_TEST(parts.alone == 1U);
}

BOOST_AUTO_TEST_CASE(inputs_that_do_not_fit_are_refused_by_name) {
  rig loop{counting_loop(7)};
  const auto missing = loop.run({*integers({}, {1})});
  BOOST_TEST(!missing.has_value());
  const auto wrong = loop.run({*integers({}, {1}), *integers({1}, {1}), *floats({1}, {2})});
  BOOST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().text.find("first") != std::string::npos);
  const auto sequence = loop.run({*integers({}, {1}), tensor_sequence{}, *floats({1}, {2})});
  BOOST_TEST(!sequence.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
