#include "runtime/exec/model.hpp"

#include "allocation_count.hpp"
#include "kernels/cpu/cpu_device.hpp"
#include "runtime/exec/run_state.hpp"
#include "runtime/onnx/onnx.pb.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

using namespace troupe;

namespace {

/// A model file that lives as long as the object.
class model_file {
public:
  explicit model_file(const onnx::ModelProto& of)
      : path_{std::filesystem::temp_directory_path()
              / fmt::format("troupe_model_test_{}.onnx", getpid())} {
    std::ofstream out{path_, std::ios::binary};
    of.SerializeToOstream(&out);
  }
  ~model_file() { std::filesystem::remove(path_); }
  model_file(const model_file&) = delete;
  model_file& operator=(const model_file&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

void add_value(onnx::ValueInfoProto& into, const std::string& name,
               const std::vector<std::string>& dims) {
  into.set_name(name);
  auto* tensor = into.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(1);
  for (const auto& dim : dims) {
    auto* axis = tensor->mutable_shape()->add_dim();
    if (std::isdigit(static_cast<unsigned char>(dim[0])))
      axis->set_dim_value(std::stoll(dim));
    else
      axis->set_dim_param(dim);
  }
}

/// y = Relu(Conv3x3(x)): one channel in, one out, every weight `weight`, padded.
onnx::ModelProto convolution(float weight, const std::string& activation = "Relu") {
  onnx::ModelProto made;
  made.set_ir_version(8);
  made.add_opset_import()->set_version(13);
  auto& graph = *made.mutable_graph();
  graph.set_name("convolution");
  add_value(*graph.add_input(), "x", {"batch", "1", "height", "width"});
  add_value(*graph.add_output(), "y", {"batch", "1", "height", "width"});
  auto& filter = *graph.add_initializer();
  filter.set_name("filter");
  filter.set_data_type(1);
  for (int dim : {1, 1, 3, 3})
    filter.add_dims(dim);
  for (int index = 0; index < 9; ++index)
    filter.add_float_data(weight);
  auto& conv = *graph.add_node();
  conv.set_name("convolve");
  conv.set_op_type("Conv");
  conv.add_input("x");
  conv.add_input("filter");
  conv.add_output("sum");
  auto& pads = *conv.add_attribute();
  pads.set_name("pads");
  pads.set_type(onnx::AttributeProto::INTS);
  for (int side = 0; side < 4; ++side)
    pads.add_ints(1);
  auto& active = *graph.add_node();
  active.set_name("activate");
  active.set_op_type(activation);
  active.add_input("sum");
  active.add_output("y");
  return made;
}

onnx::NodeProto& add_node(onnx::ModelProto& to, const std::string& op,
                          const std::vector<std::string>& inputs, const std::string& output) {
  auto& node = *to.mutable_graph()->add_node();
  node.set_name(op);
  node.set_op_type(op);
  for (const auto& input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

/// What Troupe computes with kernels of its own. oneDNN's `execute` makes small allocations.
onnx::ModelProto own_kernels() {
  onnx::ModelProto made;
  made.set_ir_version(8);
  made.add_opset_import()->set_version(13);
  add_value(*made.mutable_graph()->add_input(), "x", {"batch", "6", "10"});
  add_value(*made.mutable_graph()->add_output(), "y", {"batch", "6", "10"});
  add_node(made, "Softmax", {"x"}, "shares");
  add_node(made, "Sigmoid", {"shares"}, "active");
  add_node(made, "Add", {"active", "x"}, "sum");
  auto& mean = add_node(made, "ReduceMean", {"sum"}, "mean");
  auto& axes = *mean.add_attribute();
  axes.set_name("axes");
  axes.set_type(onnx::AttributeProto::INTS);
  axes.add_ints(2);
  add_node(made, "Sub", {"sum", "mean"}, "centred");
  add_node(made, "Concat", {"centred", "sum"}, "both").add_attribute()->set_name("axis");
  auto& axis = *made.mutable_graph()->mutable_node(5)->mutable_attribute(0);
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(0);
  add_node(made, "Tanh", {"centred"}, "y");
  add_value(*made.mutable_graph()->add_output(), "both", {"twice", "6", "10"});
  return made;
}

std::shared_ptr<device> one_thread() {
  auto made = cpu::make_cpu_device({.threads = 1});
  BOOST_REQUIRE(made.has_value());
  return *made;
}

std::shared_ptr<exec::model> load(const onnx::ModelProto& of,
                                  const exec::model_options& options = {}) {
  const model_file file{of};
  auto made = exec::model::load(file.path(), one_thread(), options);
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  return *made;
}

std::vector<shape> image(std::int64_t batch, std::int64_t height, std::int64_t width) {
  return {shape{batch, 1, height, width}};
}

std::vector<float> run(exec::model& of, const std::vector<shape>& dims,
                       const std::vector<float>& input) {
  auto plan = of.make_plan(dims);
  BOOST_REQUIRE_MESSAGE(plan.has_value(), plan.error().text);
  exec::run_state state{*plan};
  const auto arena = allocate_aligned((*plan)->arena_bytes);
  state.bind(arena.get());
  std::vector<float> output(static_cast<std::size_t>((*plan)->outputs[0].elements()));
  state.set_input(0, reinterpret_cast<const std::byte*>(input.data()));
  state.set_output(0, reinterpret_cast<std::byte*>(output.data()));
  auto stream = of.on().open_stream(stream_mode::inline_);
  BOOST_REQUIRE(stream.has_value());
  (*stream)->submit([&](troupe::stream& on) { return state.launch(on); },
                    [](const result<void>& done) { BOOST_REQUIRE(done.has_value()); });
  return output;
}

/// Sum of the 3x3 neighbourhood of a position in an image of ones.
float neighbours(std::int64_t at, std::int64_t height, std::int64_t width) {
  const auto along = [](std::int64_t place, std::int64_t size) {
    return 1 + (place > 0 ? 1 : 0) + (place + 1 < size ? 1 : 0);
  };
  return static_cast<float>(along(at / width, height) * along(at % width, width));
}

} // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(a_model_tells_what_it_takes_and_gives) {
  const auto made = load(convolution(1));
  BOOST_REQUIRE_EQUAL(made->io().inputs.size(), 1u);
  const auto& input = made->io().inputs[0];
  BOOST_TEST(input.name == "x");
  BOOST_CHECK(input.type == dtype::float32);
  BOOST_TEST(to_string(input.dims) == "[-1,1,-1,-1]");
  const std::vector<std::string> names{"batch", "", "height", "width"};
  BOOST_TEST(input.dim_names == names, boost::test_tools::per_element());
  BOOST_TEST(made->io().outputs[0].name == "y");
  BOOST_TEST(made->io().max_batch_size == 0);
  BOOST_TEST(made->rows_independent());
}

BOOST_AUTO_TEST_CASE(shapes_of_all_sizes_are_planned_and_computed) {
  const auto made = load(convolution(1));
  for (const auto& dims : {image(1, 1, 1), image(2, 5, 7), image(3, 16, 17), image(1, 1, 33)}) {
    const auto count = static_cast<std::size_t>(element_count(dims[0]));
    const auto output = run(*made, dims, std::vector<float>(count, 1.0F));
    for (std::size_t at = 0; at < count; ++at)
      BOOST_REQUIRE_EQUAL(output[at],
                          neighbours(static_cast<std::int64_t>(at) % (dims[0][2] * dims[0][3]),
                                     dims[0][2], dims[0][3]));
  }
}

BOOST_AUTO_TEST_CASE(a_batch_invariant_model_answers_a_row_with_the_same_bits_in_any_batch) {
  const model_file file{convolution(1)};
  for (const int threads : {1, 2}) {
    const auto on = cpu::make_cpu_device({.threads = threads});
    BOOST_REQUIRE(on.has_value());
    const auto made = exec::model::load(file.path(), *on, {.batch_invariant = true});
    BOOST_REQUIRE(made.has_value());
    std::vector<float> input;
    for (int at = 0; at < 9 * 35; ++at)
      input.push_back(std::sin(static_cast<float>(at)));
    const auto whole = run(**made, image(9, 5, 7), input);
    for (std::int64_t batch = 1; batch < 9; ++batch) {
      const auto part = run(**made, image(batch, 5, 7), input);
      BOOST_TEST(std::memcmp(part.data(), whole.data(), part.size() * sizeof(float)) == 0);
    }
    const auto plan = (*made)->find_plan(image(9, 5, 7));
    BOOST_REQUIRE(plan != nullptr);
    BOOST_TEST(plan->steps[0].run->name() == "row by row");
  }
}

BOOST_AUTO_TEST_CASE(rows_that_fill_the_cache_are_computed_one_by_one) {
  auto with_gate = convolution(1, "Softmax"); // what the convolution gives is read twice
  with_gate.mutable_graph()->mutable_node(1)->set_output(0, "shares");
  add_node(with_gate, "Mul", {"shares", "sum"}, "y");
  const model_file file{with_gate};
  constexpr std::int64_t height = 512, width = 600;
  std::vector<float> input(4 * height * width);
  for (std::size_t at = 0; at < input.size(); ++at)
    input[at] = std::sin(static_cast<float>(at));
  const auto splits = [](exec::model& of, const std::vector<shape>& dims) {
    const auto plan = of.make_plan(dims);
    BOOST_REQUIRE(plan.has_value());
    return (*plan)->steps[0].run->name() == "row by row";
  };
  for (const int threads : {1, 2}) {
    const auto on = cpu::make_cpu_device({.threads = threads});
    BOOST_REQUIRE(on.has_value());
    const auto apart = exec::model::load(file.path(), *on);
    const auto whole = exec::model::load(file.path(), *on, {.whole_batches = true});
    BOOST_REQUIRE((apart.has_value() && whole.has_value()));
    BOOST_TEST(splits(**apart, image(4, height, width)));
    BOOST_TEST(!splits(**whole, image(4, height, width)));
    BOOST_TEST(!splits(**apart, image(1, height, width)));
    BOOST_TEST(!splits(**apart, image(4, 8, 8)));
    BOOST_TEST(splits(**apart, image(3, height, width)) == (threads == 1)); // half a turn idle
    const auto one_by_one = run(**apart, image(4, height, width), input);
    const auto together = run(**whole, image(4, height, width), input);
    BOOST_TEST(std::ranges::equal(one_by_one, together,
                                  [](float a, float b) { return std::abs(a - b) <= 1e-5F; }));
  }
}

BOOST_AUTO_TEST_CASE(no_rows_give_no_rows) {
  const auto made = load(convolution(1));
  BOOST_TEST(run(*made, image(0, 4, 4), {}).empty());
}

BOOST_AUTO_TEST_CASE(a_plan_is_found_once_it_is_made_and_weights_are_packed_once) {
  const auto made = load(convolution(1));
  BOOST_TEST(!made->find_plan(image(1, 8, 8)));
  const auto plan = made->make_plan(image(1, 8, 8));
  BOOST_REQUIRE(plan.has_value());
  BOOST_TEST(made->find_plan(image(1, 8, 8)) == *plan);
  BOOST_TEST(!made->find_plan(image(2, 8, 8)));
  const auto packed = made->weight_bytes();
  BOOST_REQUIRE(made->make_plan(image(2, 8, 8)).has_value());
  BOOST_TEST(made->weight_bytes() == packed);
}

BOOST_AUTO_TEST_CASE(old_plans_leave_a_full_cache) {
  const auto made = load(convolution(1), {.max_cached_plans = 2});
  for (std::int64_t size : {4, 5, 6})
    BOOST_REQUIRE(made->make_plan(image(1, size, size)).has_value());
  BOOST_TEST(!made->find_plan(image(1, 4, 4)));
  BOOST_TEST(made->find_plan(image(1, 6, 6)) != nullptr);
}

BOOST_AUTO_TEST_CASE(two_callers_of_one_shape_get_one_plan) {
  const auto made = load(convolution(1));
  std::shared_ptr<const plan::plan> plans[2];
  std::thread other{[&] { plans[0] = *made->make_plan(image(1, 9, 9)); }};
  plans[1] = *made->make_plan(image(1, 9, 9));
  other.join();
  BOOST_TEST(plans[0] == plans[1]);
}

BOOST_AUTO_TEST_CASE(passes_change_no_answer_and_can_be_left_out) {
  const auto optimised = load(convolution(-1));
  const auto plain = load(convolution(-1), {.optimise = false});
  BOOST_TEST(plain->optimised().nodes.size() == 2u);
  BOOST_TEST(optimised->optimised().nodes.size() == 1u);
  const std::vector<float> input(20, 1.0F);
  const auto expected = run(*plain, image(1, 4, 5), input);
  BOOST_TEST(run(*optimised, image(1, 4, 5), input) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(launching_kernels_of_our_own_allocates_nothing) {
  const auto made = load(own_kernels());
  const auto plan = made->make_plan(std::vector<shape>{shape{3, 6, 10}});
  BOOST_REQUIRE_MESSAGE(plan.has_value(), plan.error().text);
  for (const auto& step : (*plan)->steps)
    BOOST_REQUIRE_MESSAGE(!step.run->name().starts_with("onednn"), step.node);
  exec::run_state state{*plan};
  const auto arena = allocate_aligned((*plan)->arena_bytes);
  std::vector<float> input(180, 0.5F);
  std::vector<std::vector<float>> outputs{std::vector<float>(180), std::vector<float>(360)};
  auto stream = made->on().open_stream(stream_mode::inline_);
  BOOST_REQUIRE(stream.has_value());
  std::size_t counted = 1;
  (*stream)->submit(
      [&](troupe::stream& on) {
        const test::allocation_count allocations;
        state.bind(arena.get());
        state.set_input(0, reinterpret_cast<const std::byte*>(input.data()));
        for (std::size_t index = 0; index < outputs.size(); ++index)
          state.set_output(index, reinterpret_cast<std::byte*>(outputs[index].data()));
        auto done = state.launch(on);
        counted = allocations.so_far();
        return done;
      },
      [](const result<void>& done) { BOOST_REQUIRE(done.has_value()); });
  BOOST_TEST(counted == 0u);
  BOOST_TEST(outputs[1][180] > 0.5F);
}

BOOST_AUTO_TEST_CASE(rewrites_are_told) {
  const auto made = load(convolution(1));
  const auto changed = [](const passes::pass_report& one) { return one.changes > 0; };
  BOOST_TEST(std::ranges::count_if(made->rewrites(), changed) > 0);
}

BOOST_AUTO_TEST_CASE(dims_that_do_not_fit_are_refused_by_name) {
  const auto made = load(convolution(1));
  const auto plan = made->make_plan(std::vector<shape>{shape{1, 2, 4, 4}});
  BOOST_REQUIRE(!plan.has_value());
  BOOST_CHECK(plan.error().code == errc::invalid_argument);
  BOOST_TEST(plan.error().text == "input 'x': axis 1 must be 1, but [1,2,4,4] came");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_says_why) {
  const auto missing = exec::model::load("/nowhere/model.onnx", one_thread());
  BOOST_REQUIRE(!missing.has_value());
  BOOST_CHECK(missing.error().code == errc::not_found);
  BOOST_TEST(missing.error().text.find("/nowhere/model.onnx") != std::string::npos);

  const model_file unknown{convolution(1, "Conjure")};
  const auto refused = exec::model::load(unknown.path(), one_thread());
  BOOST_REQUIRE(!refused.has_value());
  BOOST_CHECK(refused.error().code == errc::unimplemented);
  BOOST_TEST(refused.error().text.find("Conjure") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
