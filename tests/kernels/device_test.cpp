#include "kernels/cpu/cpu_device.hpp"
#include "kernels/cpu/threads.hpp"
#include "kernels/open_device.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <future>
#include <limits>
#include <thread>

using namespace troupe;

namespace {

std::shared_ptr<device> small_cpu(std::size_t memory_bytes = 1 << 20) {
  auto made = cpu::make_cpu_device({.threads = 2, .memory_bytes = memory_bytes});
  BOOST_REQUIRE(made);
  return *made;
}

std::string refusal_of(std::string_view address) {
  const auto opened = open_device(address);
  BOOST_REQUIRE(!opened);
  BOOST_TEST(to_string(opened.error().code) == "INVALID_ARGUMENT");
  return opened.error().text;
}

} // namespace

BOOST_AUTO_TEST_CASE(device_addresses_name_kind_and_options) {
  auto opened = open_device("cpu:threads=3,memory=4096");
  BOOST_REQUIRE(opened);
  BOOST_TEST((*opened)->properties().threads == 3);
  BOOST_TEST((*opened)->properties().memory_bytes == 4096U);
  opened = open_device("cpu");
  BOOST_REQUIRE(opened);
  BOOST_TEST((*opened)->properties().threads == cpu::available_threads());
  BOOST_TEST((*opened)->properties().memory_bytes > 0U);
}

BOOST_AUTO_TEST_CASE(a_wrong_device_address_says_what_is_wrong) {
  BOOST_TEST(refusal_of("gpu").find("'gpu'") != std::string::npos);
  BOOST_TEST(refusal_of("cpu:threads").find("key=value") != std::string::npos);
  BOOST_TEST(refusal_of("cpu:threads=two").find("'two'") != std::string::npos);
  BOOST_TEST(refusal_of("cpu:threads=-1").find("'-1'") != std::string::npos);
  BOOST_TEST(refusal_of("cpu:cores=2").find("'cores'") != std::string::npos);
  BOOST_TEST(refusal_of("cpu:threads=1,threads=2").find("twice") != std::string::npos);
  BOOST_TEST(refusal_of("").find("kind") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(buffers_are_aligned_and_stay_within_the_budget) {
  const auto on = small_cpu(1000);
  auto first = on->allocate(600);
  BOOST_REQUIRE(first);
  BOOST_TEST((*first)->size() == 600U);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>((*first)->data()) % tensor_alignment == 0U);
  const auto refused = on->allocate(500);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(!on->allocate(std::numeric_limits<std::size_t>::max()));
  first->reset();
  BOOST_TEST(on->allocate(1000).has_value());
}

BOOST_AUTO_TEST_CASE(host_memory_is_aligned_and_no_part_of_the_device) {
  const auto on = small_cpu(1000);
  auto beside = on->allocate_host(4000);
  BOOST_REQUIRE(beside);
  BOOST_TEST((*beside)->size() == 4000U);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>((*beside)->data()) % tensor_alignment == 0U);
  BOOST_TEST(on->allocate(1000).has_value());
  const auto refused = on->allocate_host(std::numeric_limits<std::size_t>::max());
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "RESOURCE_EXHAUSTED");
}

BOOST_AUTO_TEST_CASE(a_stream_works_in_the_order_of_its_submits) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(opened);
  auto& queue = **opened;
  std::vector<int> order; // touched by the stream's thread only, until it is synchronised
  for (int i = 0; i < 50; ++i)
    queue.submit(
        [&order, i](stream&) -> result<void> {
          order.push_back(2 * i);
          return {};
        },
        [&order, i](const result<void>& outcome) {
          if (outcome)
            order.push_back(2 * i + 1);
        });
  queue.synchronize();
  BOOST_REQUIRE_EQUAL(order.size(), 100U);
  for (int i = 0; i < 100; ++i)
    BOOST_TEST(order[static_cast<std::size_t>(i)] == i);
}

BOOST_AUTO_TEST_CASE(a_failure_or_an_exception_reaches_done_and_the_stream_goes_on) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(opened);
  std::vector<std::string> outcomes;
  const auto note = [&](const result<void>& outcome) {
    outcomes.push_back(outcome ? "done" : to_string(outcome.error()));
  };
  (*opened)->submit([](stream&) -> result<void> { return fail(errc::invalid_argument, "no"); },
                    note);
  (*opened)->submit([](stream&) -> result<void> { throw std::bad_alloc{}; }, note);
  (*opened)->submit([](stream&) -> result<void> { return {}; }, note);
  (*opened)->synchronize();
  BOOST_REQUIRE_EQUAL(outcomes.size(), 3U);
  BOOST_TEST(outcomes[0] == "INVALID_ARGUMENT: no");
  BOOST_TEST(outcomes[1].starts_with("INTERNAL: "));
  BOOST_TEST(outcomes[2] == "done");
}

BOOST_AUTO_TEST_CASE(an_event_is_ready_once_the_work_before_it_is_done) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(opened);
  std::promise<void> gate;
  (*opened)->submit(
      [open = gate.get_future().share()](stream&) -> result<void> {
        open.wait();
        return {};
      },
      [](const result<void>&) {});
  auto behind = (*opened)->record();
  BOOST_REQUIRE(behind);
  BOOST_TEST(!(*behind)->ready());
  gate.set_value();
  (*behind)->wait();
  BOOST_TEST((*behind)->ready());
}

BOOST_AUTO_TEST_CASE(copies_follow_the_stream) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(opened);
  std::array<std::byte, 4> from{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::array<std::byte, 4> to{};
  (*opened)->submit([&](stream& s) { return s.copy(to.data(), from.data(), from.size()); },
                    [](const result<void>&) {});
  (*opened)->synchronize();
  BOOST_TEST((to == from));
}

BOOST_AUTO_TEST_CASE(an_inline_stream_is_done_before_submit_returns) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::inline_);
  BOOST_REQUIRE(opened);
  const auto here = std::this_thread::get_id();
  bool done = false;
  (*opened)->submit(
      [&](stream&) -> result<void> {
        BOOST_TEST((std::this_thread::get_id() == here));
        return {};
      },
      [&](const result<void>& outcome) { done = outcome.has_value(); });
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(closing_a_stream_finishes_what_was_submitted) {
  const auto on = small_cpu();
  int done = 0;
  {
    auto opened = on->open_stream(stream_mode::own_thread);
    BOOST_REQUIRE(opened);
    for (int i = 0; i < 10; ++i)
      (*opened)->submit([](stream&) -> result<void> { return {}; },
                        [&](const result<void>&) { ++done; });
  }
  BOOST_TEST(done == 10);
}

BOOST_AUTO_TEST_CASE(a_stream_may_be_dropped_by_its_own_done) {
  const auto on = small_cpu();
  auto opened = on->open_stream(stream_mode::own_thread);
  BOOST_REQUIRE(opened);
  auto* queue = opened->get();
  std::promise<void> dropped;
  queue->submit(
      [](stream&) -> result<void> { return {}; },
      [&dropped, owner = std::shared_ptr<stream>{std::move(*opened)}](const result<void>&) mutable {
        owner.reset();
        dropped.set_value();
      });
  dropped.get_future().wait();
}

BOOST_AUTO_TEST_CASE(denormals_count_as_zero_on_threads_that_run_kernels) {
  volatile float tiny = std::numeric_limits<float>::min();
  const auto halved = [&] { return tiny * 0.5F; };
  BOOST_TEST(halved() > 0.0F);
  {
    const cpu::kernel_thread prepared{1};
    BOOST_TEST(halved() == 0.0F);
  }
  BOOST_TEST(halved() > 0.0F);
}

BOOST_AUTO_TEST_CASE(an_unknown_operator_is_unimplemented_by_name) {
  const auto on = small_cpu();
  weight_cache weights;
  const attribute_map none;
  const tensor_desc output;
  const kernel_spec spec{.domain = "com.example",
                         .op_type = "Sorcery",
                         .version = 1,
                         .attributes = &none,
                         .inputs = {},
                         .outputs = {&output, 1},
                         .outputs_wanted = {},
                         .post_ops = {},
                         .threads = 1};
  const auto choice = on->choose_kernel(spec, weights);
  BOOST_REQUIRE(!choice);
  BOOST_TEST(to_string(choice.error().code) == "UNIMPLEMENTED");
  BOOST_TEST(choice.error().text.find("com.example.Sorcery") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_node_without_a_needed_input_is_refused) {
  const auto on = small_cpu();
  weight_cache weights;
  const attribute_map none;
  const tensor_desc desc{dtype::float32, {2}};
  const std::array inputs{operand{true, desc, nullptr}, operand{}};
  kernel_spec spec{.domain = "",
                   .op_type = "Add",
                   .version = 14,
                   .attributes = &none,
                   .inputs = inputs,
                   .outputs = {&desc, 1},
                   .outputs_wanted = {},
                   .post_ops = {},
                   .threads = 1};
  auto choice = on->choose_kernel(spec, weights);
  BOOST_REQUIRE(!choice);
  BOOST_TEST(choice.error().text.find("expected 2 inputs") != std::string::npos,
             choice.error().text);
  spec.op_type = "Relu";
  BOOST_TEST(on->choose_kernel(spec, weights).has_value());
  spec.inputs = {};
  BOOST_TEST(!on->choose_kernel(spec, weights));
}
