#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

kernel_case node_of(std::int64_t batch, std::int64_t channels, std::int64_t height,
                    std::int64_t width, std::int64_t out_channels,
                    const std::vector<std::int64_t>& pads = {1, 1, 1, 1}) {
  kernel_case node{
      .op_type = "Conv",
      .attributes = {},
      .inputs = {{batch, channels, height, width}, {out_channels, channels, 3, 3}, {out_channels}},
      .constant = {false, true, true},
      .output = {batch, out_channels, height + pads[0] + pads[2] - 2,
                 width + pads[1] + pads[3] - 2},
      .format = layout::channels_last};
  node.attributes.set("pads", pads);
  return node;
}

BOOST_AUTO_TEST_SUITE(conv_winograd)

BOOST_AUTO_TEST_CASE(tiles_agree_with_the_reference) {
  for (const std::int64_t batch : {1, 3})
    for (const std::int64_t channels : {16, 24, 37, 96})
      for (const std::int64_t out_channels : {16, 24, 29, 40, 64}) {
        check_candidates(node_of(batch, channels, 13, 17, out_channels), "winograd");
        check_candidates(node_of(batch, channels, 19, 14, out_channels, {0, 1, 2, 0}), "winograd");
      }
}

BOOST_AUTO_TEST_CASE(activations_and_residuals_are_fused) {
  auto node = node_of(2, 24, 14, 15, 40);
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  for (const auto& activation :
       {post_op{post_op_kind::relu}, post_op{post_op_kind::leaky_relu, 0.1F},
        post_op{post_op_kind::clip, -0.5F, 0.75F}, post_op{post_op_kind::linear, 0.5F, -0.25F},
        post_op{post_op_kind::hard_sigmoid, 0.2F, 0.5F},
        post_op{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}}) {
    node.post_ops = {activation};
    check_candidates(node, "winograd");
    node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 3}, activation};
    check_candidates(node, "winograd");
  }
}

BOOST_AUTO_TEST_CASE(two_threads_give_what_one_gives) {
  auto node = node_of(2, 48, 30, 31, 24);
  node.threads = 2;
  check_candidates(node, "winograd");
}

BOOST_AUTO_TEST_CASE(two_shapes_share_the_transformed_filters) {
  weight_cache weights;
  const candidate_runner first{node_of(1, 32, 20, 20, 32)};
  std::size_t taken = 0;
  while (!first.run(taken, weights).taken)
    ++taken;
  BOOST_TEST(first.run(taken, weights).name == "winograd:4x4");
  const auto bytes = weights.bytes();
  candidate_runner second{node_of(3, 32, 33, 21, 32)};
  second.share_constants(first);
  BOOST_TEST(second.run(taken, weights).taken);
  BOOST_TEST(weights.bytes() == bytes);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
