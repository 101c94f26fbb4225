#include "runtime/exec/run_state.hpp"

#include "allocation_count.hpp"
#include "kernels/tensor/shared_bytes.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

namespace {

/// Writes input 0 plus input 1 into the output, through its workspace.
class adding final : public kernel {
public:
  std::string name() const override { return "adding"; }
  std::size_t workspace_bytes() const noexcept override { return 64; }
  result<void> launch(stream&, const kernel_args& args) const override {
    if (args.workspace.size() != 64)
      return fail(errc::internal, "no workspace");
    auto* sum = reinterpret_cast<float*>(args.workspace.data());
    *sum = *args.inputs[0].as<float>() + *args.inputs[1].as<float>();
    if (*sum > 1000)
      return fail(errc::invalid_argument, "more than 1000");
    *args.outputs[0].as<float>() = *sum;
    return {};
  }
};

class idle_stream final : public stream {
public:
  void submit(issue_fn issue, done_fn done) override { done(issue(*this)); }
  result<void> copy(std::byte*, const std::byte*, std::size_t) override { return {}; }
  result<std::unique_ptr<event>> record() override {
    return fail(errc::unimplemented, "no events");
  }
  void synchronize() override {}
};

const tensor_desc number{dtype::float32, {1}, layout::row_major};

plan::argument at(plan::place where, std::uint32_t index = 0, std::size_t offset = 0) {
  return {{where, index, offset}, number};
}

/// y = (x + c) + x with one tensor in the arena.
std::shared_ptr<const plan::plan> two_additions(float constant) {
  auto made = std::make_shared<plan::plan>();
  made->inputs = {number};
  made->outputs = {number};
  const std::vector<float> content{constant};
  made->constants.push_back(std::make_shared<const tensor>(
      tensor{dtype::float32, {1}, copy_of(std::as_bytes(std::span{content}))}));
  const auto run = std::make_shared<const adding>();
  const plan::location workspace{plan::place::arena, 0, 64};
  made->steps.push_back({run,
                         {at(plan::place::input), at(plan::place::constant)},
                         {at(plan::place::arena)},
                         workspace,
                         64,
                         "first",
                         "Add",
                         {},
                         {}});
  made->steps.push_back({run,
                         {at(plan::place::arena), at(plan::place::input)},
                         {at(plan::place::output)},
                         workspace,
                         64,
                         "second",
                         "Add",
                         {},
                         {}});
  made->arena_bytes = 128;
  return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(run_state)

BOOST_AUTO_TEST_CASE(a_launch_runs_the_steps_on_the_bound_memory) {
  exec::run_state state{two_additions(5)};
  idle_stream stream;
  const auto arena = allocate_aligned(128);
  state.bind(arena.get());
  for (float x : {1.0F, 20.0F}) {
    float y = 0;
    state.set_input(0, reinterpret_cast<const std::byte*>(&x));
    state.set_output(0, reinterpret_cast<std::byte*>(&y));
    BOOST_REQUIRE(state.launch(stream).has_value());
    BOOST_TEST(y == 2 * x + 5);
  }
}

BOOST_AUTO_TEST_CASE(another_block_can_be_bound_between_runs) {
  exec::run_state state{two_additions(5)};
  idle_stream stream;
  float x = 1;
  float y = 0;
  state.set_input(0, reinterpret_cast<const std::byte*>(&x));
  state.set_output(0, reinterpret_cast<std::byte*>(&y));
  for (int round = 0; round < 2; ++round) {
    const auto arena = allocate_aligned(128);
    state.bind(arena.get());
    BOOST_REQUIRE(state.launch(stream).has_value());
    BOOST_TEST(*reinterpret_cast<float*>(arena.get()) == 6.0F);
  }
}

BOOST_AUTO_TEST_CASE(binding_and_launching_allocate_nothing) {
  exec::run_state state{two_additions(5)};
  idle_stream stream;
  const auto arena = allocate_aligned(128);
  float x = 1;
  float y = 0;
  const test::allocation_count allocations;
  state.bind(arena.get());
  state.set_input(0, reinterpret_cast<const std::byte*>(&x));
  state.set_output(0, reinterpret_cast<std::byte*>(&y));
  const bool done = state.launch(stream).has_value();
  const auto counted = allocations.so_far();
  BOOST_TEST(done);
  BOOST_TEST(counted == 0u);
}

BOOST_AUTO_TEST_CASE(a_failing_step_ends_the_run_and_is_named) {
  exec::run_state state{two_additions(5)};
  idle_stream stream;
  const auto arena = allocate_aligned(128);
  state.bind(arena.get());
  float x = 990;
  float y = 0;
  state.set_input(0, reinterpret_cast<const std::byte*>(&x));
  state.set_output(0, reinterpret_cast<std::byte*>(&y));
  std::vector<std::size_t> finished;
  const auto done = state.launch(stream, [&](std::size_t step, bool is_finished) {
    if (is_finished)
      finished.push_back(step);
  });
  BOOST_REQUIRE(!done.has_value());
  BOOST_CHECK(done.error().code == errc::invalid_argument);
  BOOST_TEST(done.error().text == "node 'second' (Add): more than 1000");
  BOOST_TEST(finished == std::vector<std::size_t>{0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
