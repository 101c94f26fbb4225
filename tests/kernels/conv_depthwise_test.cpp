#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

kernel_case node_of(std::int64_t batch, std::int64_t channels, std::int64_t height,
                    std::int64_t width, std::int64_t kernel,
                    const std::vector<std::int64_t>& strides,
                    const std::vector<std::int64_t>& pads) {
  kernel_case node{
      .op_type = "Conv",
      .attributes = {},
      .inputs = {{batch, channels, height, width}, {channels, 1, kernel, kernel}, {channels}},
      .constant = {false, true, true},
      .output = {batch, channels, (height + pads[0] + pads[2] - kernel) / strides[0] + 1,
                 (width + pads[1] + pads[3] - kernel) / strides[1] + 1},
      .format = layout::channels_last};
  node.attributes.set("group", channels);
  node.attributes.set("strides", strides);
  node.attributes.set("pads", pads);
  return node;
}

BOOST_AUTO_TEST_SUITE(conv_depthwise)

BOOST_AUTO_TEST_CASE(windows_agree_with_the_reference) {
  for (const std::int64_t kernel : {3, 5})
    for (const std::int64_t channels : {16, 24, 37}) {
      check_candidates(node_of(2, channels, 61, 143, kernel, {1, 1}, {1, 1, 1, 1}), "depthwise");
      check_candidates(node_of(1, channels, 131, 139, kernel, {1, 1}, {0, 2, 2, 0}), "depthwise");
    }
}

BOOST_AUTO_TEST_CASE(strided_windows_agree_with_the_reference) {
  for (const std::int64_t kernel : {3, 5})
    for (const auto& strides :
         std::vector<std::vector<std::int64_t>>{{2, 2}, {2, 1}, {1, 2}, {3, 2}})
      check_candidates(node_of(2, 37, 203, 143, kernel, strides, {2, 1, 0, 2}), "depthwise");
}

BOOST_AUTO_TEST_CASE(rows_narrower_than_a_window_are_all_border) {
  check_candidates(node_of(1, 48, 5500, 1, 3, {1, 1}, {1, 1, 1, 1}), "depthwise");
  check_candidates(node_of(1, 48, 2800, 2, 5, {1, 1}, {2, 2, 2, 2}), "depthwise");
}

BOOST_AUTO_TEST_CASE(activations_and_residuals_are_fused_on_two_threads) {
  auto node = node_of(2, 40, 60, 60, 3, {1, 1}, {1, 1, 1, 1});
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  node.threads = 2;
  node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 3},
                   {post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}};
  check_candidates(node, "depthwise");
  node.post_ops = {{post_op_kind::sigmoid}};
  check_candidates(node, "depthwise");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
