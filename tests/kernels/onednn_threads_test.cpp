#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/threads.hpp"
#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <thread>

namespace troupe::tests {
namespace {

BOOST_AUTO_TEST_SUITE(onednn_threads)

BOOST_AUTO_TEST_CASE(one_kernel_serves_several_threads_at_once) {
  constexpr std::int64_t rows = 96;
  constexpr std::int64_t inner = 64;
  constexpr std::int64_t columns = 80;
  const auto weights = random_values(inner * columns, 1);
  const auto constant = std::make_shared<tensor>(
      tensor{dtype::float32, {inner, columns}, copy_of(std::as_bytes(std::span{weights}))});
  const tensor_desc left{dtype::float32, {rows, inner}};
  const tensor_desc output{dtype::float32, {rows, columns}};
  const std::vector<operand> inputs{{true, left, nullptr},
                                    {true, {dtype::float32, {inner, columns}}, constant}};
  const attribute_map attributes;
  const bool wanted = true;
  weight_cache cache;
  const cpu::kernel_thread prepared{1};
  const auto made = cpu::make_onednn_matmul(
      {"", "MatMul", 13, &attributes, inputs, {&output, 1}, {&wanted, 1}, {}, 1}, cache);
  BOOST_REQUIRE(made.has_value());

  const auto multiply = [&](std::uint32_t seed, std::size_t times) {
    auto values = random_values(rows * inner, seed);
    std::vector<float> result(rows * columns);
    const auto workspace = allocate_aligned((*made)->workspace_bytes() + 1);
    const auto on = cpu::open_cpu_stream(stream_mode::inline_, 1);
    const std::vector<tensor_view> views{{reinterpret_cast<std::byte*>(values.data()), left}, {}};
    const tensor_view target{reinterpret_cast<std::byte*>(result.data()), output};
    bool succeeded = true;
    for (std::size_t i = 0; i < times; ++i)
      succeeded =
          (*made)
              ->launch(*on, {views, {&target, 1}, {workspace.get(), (*made)->workspace_bytes()}})
              .has_value()
          && succeeded;
    return succeeded ? result : std::vector<float>{};
  };
  std::vector<std::vector<float>> alone;
  for (std::uint32_t seed = 10; seed < 14; ++seed)
    alone.push_back(multiply(seed, 1));
  std::vector<std::vector<float>> together(alone.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < together.size(); ++i)
    threads.emplace_back(
        [&, i] { together[i] = multiply(10 + static_cast<std::uint32_t>(i), 200); });
  for (auto& thread : threads)
    thread.join();
  for (std::size_t i = 0; i < alone.size(); ++i)
    BOOST_TEST(together[i] == alone[i], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
