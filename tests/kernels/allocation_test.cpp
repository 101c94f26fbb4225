// Counts what launches allocate: nothing, or a server would pay for it in every request.

#include "kernels/cpu/cpu_device.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* block = alignment > alignof(std::max_align_t)
                    ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                    : std::malloc(bytes);
  if (block == nullptr)
    throw std::bad_alloc{};
  return block;
}

} // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
// The library's own of this form need not come from the one above: all forms are replaced together.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}

using namespace troupe;

namespace {

struct launched {
  std::string kernel;
  long allocations = -1;
};

// Makes the node's kernel on a CPU device and launches it twice; counts the second launch.
launched launch(std::string_view op, int version, const attribute_map& attributes,
                const std::vector<tensor_desc>& inputs, const tensor_desc& output,
                const std::vector<post_op>& post_ops = {}) {
  const auto on = cpu::make_cpu_device({.threads = 2});
  BOOST_REQUIRE(on);
  std::vector<operand> operands;
  std::vector<std::shared_ptr<std::byte[]>> blocks;
  std::vector<tensor_view> views;
  for (const auto& desc : inputs) {
    operands.push_back({true, desc, nullptr});
    blocks.push_back(allocate_aligned(desc.bytes()));
    std::fill_n(blocks.back().get(), desc.bytes(), std::byte{0});
    views.push_back({blocks.back().get(), desc});
  }
  const bool wanted = true;
  weight_cache weights;
  const auto choice = (*on)->choose_kernel(
      {"", op, version, &attributes, operands, {&output, 1}, {&wanted, 1}, post_ops, 2}, weights);
  BOOST_REQUIRE_MESSAGE(choice, (choice ? "" : choice.error().text));
  const auto result_block = allocate_aligned(output.bytes());
  const auto workspace = allocate_aligned(choice->chosen->workspace_bytes());
  const tensor_view target{result_block.get(), output};
  auto opened = (*on)->open_stream(stream_mode::inline_);
  BOOST_REQUIRE(opened);
  launched seen{choice->chosen->name()};
  const kernel_args args{views, {&target, 1}, {workspace.get(), choice->chosen->workspace_bytes()}};
  (*opened)->submit(
      [&](stream& s) -> result<void> {
        if (auto first = choice->chosen->launch(s, args); !first)
          return first;
        const auto before = allocations.load();
        auto second = choice->chosen->launch(s, args);
        seen.allocations = allocations.load() - before;
        return second;
      },
      [](const result<void>& outcome) { BOOST_TEST(outcome.has_value()); });
  return seen;
}

} // namespace

BOOST_AUTO_TEST_CASE(launches_of_our_own_kernels_allocate_nothing) {
  const auto f32 = [](shape dims, layout format = layout::row_major) {
    return tensor_desc{dtype::float32, std::move(dims), format};
  };
  constexpr auto last = layout::channels_last;
  attribute_map none;
  attribute_map turn;
  turn.set("perm", std::vector<std::int64_t>{0, 2, 3, 1});
  attribute_map along;
  along.set("axis", std::int64_t{1});
  attribute_map trailing;
  trailing.set("axes", std::vector<std::int64_t>{2, 3});
  const std::vector<launched> all{
      launch("Relu", 14, none, {f32({2, 19, 40, 50})}, f32({2, 19, 40, 50})),
      launch("Mul", 14, none, {f32({2, 19, 40, 50}, last), f32({2, 19, 1, 1}, last)},
             f32({2, 19, 40, 50}, last)),
      launch("Mul", 14, none, {f32({2, 19, 40, 50}), f32({2, 19, 1, 1}), f32({2, 19, 40, 50})},
             f32({2, 19, 40, 50}),
             {{post_op_kind::add, 0, 0, 2}, {post_op_kind::hard_swish, 1.0F / 6, 0.5F, 0}}),
      launch("Softmax", 13, none, {f32({80, 1000})}, f32({80, 1000}),
             {{post_op_kind::relu, 0, 0, 0}}),
      launch("Transpose", 13, turn, {f32({2, 19, 40, 50})}, f32({2, 40, 50, 19})),
      launch("Concat", 13, along, {f32({2, 7, 40, 50}, last), f32({2, 9, 40, 50}, last)},
             f32({2, 16, 40, 50}, last)),
      launch("ReduceMean", 13, trailing, {f32({2, 19, 40, 50})}, f32({2, 19, 1, 1})),
      launch("GlobalAveragePool", 1, none, {f32({2, 19, 40, 50}, last)}, f32({2, 19, 1, 1}, last)),
      launch("LayerNormalization", 17, none, {f32({40, 384}), f32({384}), f32({384})},
             f32({40, 384})),
      launch("Where", 16, none, {{dtype::boolean, {40, 1}}, f32({40, 3}), f32({3})}, f32({40, 3})),
      launch(
          "MaxPool", 12,
          [] {
            attribute_map window;
            window.set("kernel_shape", std::vector<std::int64_t>{2, 2, 2});
            return window;
          }(),
          {f32({1, 2, 4, 4, 4})}, f32({1, 2, 3, 3, 3})),
  };
  for (const auto& seen : all)
    BOOST_TEST(seen.allocations == 0,
               seen.kernel << " made " << seen.allocations << " allocations");
}
