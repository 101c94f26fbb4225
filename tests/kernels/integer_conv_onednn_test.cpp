// oneDNN's integer convolutions against the reference kernel, on the same bytes.

#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/quantized_kernels.hpp"
#include "kernels/op/byte_bounds.hpp"
#include "tests/kernels/op_case.hpp"

#include <algorithm>
#include <cstdlib>

namespace troupe::tests {
namespace {

struct byte_conv {
  shape input;
  shape weights;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  dtype from = dtype::uint8;
  dtype to = dtype::uint8;
  std::int32_t input_zero = 0;
  std::int32_t output_zero = 0;
  std::optional<byte_bounds> within = {};
  bool has_bias = true;
};

std::shared_ptr<const tensor> tensor_of(dtype type, shape dims, std::span<const std::byte> bytes) {
  return std::make_shared<tensor>(tensor{type, std::move(dims), copy_of(bytes)});
}

template <class T>
std::shared_ptr<const tensor> numbers(dtype type, shape dims, const std::vector<T>& content) {
  return tensor_of(type, std::move(dims), std::as_bytes(std::span{content}));
}

std::shared_ptr<const tensor> random_bytes(dtype type, const shape& dims, unsigned seed) {
  std::vector<std::uint8_t> content(static_cast<std::size_t>(element_count(dims)));
  for (auto& byte : content)
    byte = static_cast<std::uint8_t>((seed = seed * 1664525U + 1013904223U) >> 24U);
  return numbers(type, dims, content);
}

/// The node of a case with its tensors, all of them constant but the first.
class byte_node {
public:
  explicit byte_node(const byte_conv& of) {
    const auto channels = of.weights[0];
    std::vector<float> scales;
    std::vector<std::int32_t> bias;
    const auto taps = static_cast<float>(element_count(of.weights)) / static_cast<float>(channels);
    for (std::int64_t c = 0; c < channels; ++c) {
      scales.push_back(0.013F * static_cast<float>(1 + c % 3) / std::sqrt(taps));
      bias.push_back(static_cast<std::int32_t>(c * 37 % 1000 - 500));
    }
    const auto zero = [](dtype type, std::int32_t point) {
      return numbers(type, {}, std::vector<std::uint8_t>{static_cast<std::uint8_t>(point)});
    };
    tensors_ = {random_bytes(of.from, of.input, 1),
                numbers(dtype::float32, {}, std::vector<float>{0.02F}),
                zero(of.from, of.input_zero),
                random_bytes(dtype::int8, of.weights, 2),
                numbers(dtype::float32, {channels}, scales),
                zero(dtype::int8, 0),
                numbers(dtype::float32, {}, std::vector<float>{0.031F}),
                zero(of.to, of.output_zero)};
    if (of.has_bias)
      tensors_.push_back(numbers(dtype::int32, {channels}, bias));
    for (const auto& each : tensors_)
      operands_.push_back({true, {each->type, each->dims}, each});
    operands_[0].constant = nullptr;
    operands_[0].desc.format = layout::channels_last; // bytes mean the same to both kernels
    output_ = {of.to, {of.input[0], channels}, layout::channels_last};
    for (const std::size_t axis : {2U, 3U})
      output_.dims.push_back((of.input[axis] + 2 * of.pad - of.weights[axis]) / of.stride + 1);
    attributes_.set("strides", std::vector<std::int64_t>{of.stride, of.stride});
    attributes_.set("pads", std::vector<std::int64_t>(4, of.pad));
    attributes_.set("group", of.groups);
    if (of.within) {
      attributes_.set(std::string{lowest_byte}, std::int64_t{of.within->lowest});
      attributes_.set(std::string{highest_byte}, std::int64_t{of.within->highest});
    }
  }

  [[nodiscard]] kernel_spec spec() const {
    return {"", "QLinearConv", 10, &attributes_, operands_, {&output_, 1}, {}, {}, 1};
  }

  [[nodiscard]] std::vector<std::int32_t> run(const kernel& of) const {
    std::vector<std::byte> result(output_.bytes());
    const auto workspace = allocate_aligned(of.workspace_bytes() + 1);
    std::vector<tensor_view> inputs;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      inputs.push_back({const_cast<std::byte*>(tensors_[i]->data.data()), operands_[i].desc});
    const tensor_view output{result.data(), output_};
    const auto stream = cpu::open_cpu_stream(stream_mode::inline_, 1);
    const auto done =
        of.launch(*stream, {inputs, {&output, 1}, {workspace.get(), of.workspace_bytes()}});
    BOOST_TEST_REQUIRE(done.has_value());
    std::vector<std::int32_t> found;
    for (const auto byte : result)
      found.push_back(output_.type == dtype::int8 ? std::int32_t{static_cast<std::int8_t>(byte)}
                                                  : std::int32_t{static_cast<std::uint8_t>(byte)});
    return found;
  }

private:
  std::vector<std::shared_ptr<const tensor>> tensors_;
  std::vector<operand> operands_;
  tensor_desc output_;
  attribute_map attributes_;
};

// Within one step everywhere, and different in a few places at most; answers the kernel's name.
std::string check(const byte_conv& of) {
  const byte_node node{of};
  weight_cache weights;
  const auto reference = cpu::make_reference_qlinear_conv(node.spec(), weights);
  auto fast = cpu::make_onednn_qlinear_conv(node.spec(), weights);
  if (!fast)
    fast = cpu::make_onednn_qlinear_conv_by_gemm(node.spec(), weights);
  BOOST_TEST_REQUIRE(reference.has_value());
  if (!cpu::multiplies_bytes_fast()) {
    BOOST_TEST(!fast.has_value());
    return {};
  }
  BOOST_TEST_REQUIRE(fast.has_value(), (fast ? "" : fast.error()));
  const auto expected = node.run(**reference);
  const auto found = node.run(**fast);
  std::int32_t farthest = 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    farthest = std::max(farthest, std::abs(expected[i] - found[i]));
    differ += expected[i] != found[i] ? 1 : 0;
  }
  BOOST_TEST(farthest <= 1, "results differ by " << farthest);
  BOOST_TEST(differ * 100 <= expected.size(), differ << " of " << expected.size() << " differ");
  const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
  BOOST_TEST(*most - *least > 40); // the case tells something
  return (*fast)->name();
}

BOOST_AUTO_TEST_SUITE(integer_conv_onednn)

BOOST_AUTO_TEST_CASE(windows_strides_and_odd_channels_agree_with_the_reference) {
  check({{2, 16, 9, 11}, {32, 16, 3, 3}, 1, 1});
  check({{1, 3, 21, 20}, {24, 3, 7, 7}, 2, 3});
  check({{3, 37, 5, 6}, {29, 37, 1, 1}, 1, 0});
  check({{1, 64, 8, 8}, {96, 64, 1, 1}, 2, 0});
  check({{1, 20, 7, 9}, {12, 20, 3, 3}, 1, 1, 1, dtype::uint8, dtype::uint8, 0, 0, {}, false});
}

BOOST_AUTO_TEST_CASE(zero_points_and_signs_agree_with_the_reference) {
  for (const auto from : {dtype::uint8, dtype::int8})
    for (const auto to : {dtype::uint8, dtype::int8})
      for (const std::int32_t zero : {0, 7}) {
        check({{1, 32, 6, 7}, {48, 32, 3, 3}, 1, 1, 1, from, to, zero, 3 * zero});
        check({{1, 32, 6, 7}, {48, 32, 1, 1}, 1, 0, 1, from, to, zero, 3 * zero});
      }
  check({{1, 32, 6, 7}, {48, 32, 3, 3}, 1, 1, 1, dtype::uint8, dtype::uint8, 128, 131});
}

BOOST_AUTO_TEST_CASE(groups_agree_with_the_reference) {
  check({{1, 48, 9, 9}, {48, 1, 3, 3}, 1, 1, 48, dtype::uint8, dtype::uint8, 0, 120});
  check({{1, 32, 9, 9}, {64, 8, 3, 3}, 2, 1, 4, dtype::uint8, dtype::uint8, 0, 120});
}

BOOST_AUTO_TEST_CASE(what_an_activation_leaves_of_the_range_is_kept_to) {
  check({{1, 16, 9, 9},
         {32, 16, 3, 3},
         1,
         1,
         1,
         dtype::uint8,
         dtype::int8,
         0,
         0,
         byte_bounds{0, 100}});
  check({{1, 16, 9, 9},
         {32, 16, 1, 1},
         1,
         0,
         1,
         dtype::uint8,
         dtype::uint8,
         0,
         100,
         byte_bounds{100, 200}});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
