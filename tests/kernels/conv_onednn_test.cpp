#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

struct conv_case {
  std::int64_t batch, channels, height, width, out_channels, kernel_h, kernel_w;
  std::int64_t groups = 1;
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  bool bias = true;
};

std::int64_t extent(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pads,
                    std::int64_t dilation) {
  return (in + pads - dilation * (kernel - 1) - 1) / stride + 1;
}

kernel_case node_of(const conv_case& c, layout format = layout::channels_last) {
  kernel_case node{
      .op_type = "Conv",
      .attributes = {},
      .inputs = {{c.batch, c.channels, c.height, c.width},
                 {c.out_channels, c.channels / c.groups, c.kernel_h, c.kernel_w}},
      .constant = {false, true},
      .output = {c.batch, c.out_channels,
                 extent(c.height, c.kernel_h, c.strides[0], c.pads[0] + c.pads[2], c.dilations[0]),
                 extent(c.width, c.kernel_w, c.strides[1], c.pads[1] + c.pads[3], c.dilations[1])},
      .format = format};
  if (c.bias) {
    node.inputs.push_back({c.out_channels});
    node.constant.push_back(true);
  }
  node.attributes.set("group", c.groups);
  node.attributes.set("strides", c.strides);
  node.attributes.set("pads", c.pads);
  node.attributes.set("dilations", c.dilations);
  return node;
}

kernel_case with_residual(kernel_case node) {
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  node.post_ops.push_back({post_op_kind::add, 0.0F, 0.0F, node.inputs.size() - 1});
  return node;
}

BOOST_AUTO_TEST_SUITE(conv_onednn)

BOOST_AUTO_TEST_CASE(dense_convolutions_agree_with_the_reference) {
  for (const auto batch : {1, 3, 8})
    for (const auto& c : {
             conv_case{batch, 3, 17, 23, 16, 3, 3, 1, {2, 2}, {1, 1, 1, 1}},
             conv_case{batch, 7, 9, 11, 5, 3, 3, 1, {1, 1}, {1, 0, 0, 1}},
             conv_case{batch, 96, 12, 10, 24, 3, 3, 1, {1, 1}, {1, 1, 1, 1}},
             conv_case{batch, 16, 13, 9, 40, 3, 5, 1, {2, 1}, {0, 2, 1, 1}, {1, 1}, false},
             conv_case{batch, 8, 15, 14, 24, 3, 3, 1, {1, 1}, {2, 2, 2, 2}, {2, 2}},
             conv_case{batch, 12, 6, 7, 18, 1, 3, 1, {1, 1}, {0, 1, 0, 1}},
             conv_case{batch, 32, 8, 8, 64, 1, 1, 1, {2, 2}},
         })
      check_candidates(node_of(c), "onednn");
}

BOOST_AUTO_TEST_CASE(pointwise_convolutions_agree_with_the_reference) {
  for (const auto batch : {1, 3, 8})
    for (const auto channels : {1, 12, 16, 40, 88, 200})
      for (const bool bias : {false, true}) {
        conv_case c{batch, channels, 5, 7, 24, 1, 1};
        c.bias = bias;
        check_candidates(node_of(c), "onednn");
        c.height = c.width = 1;
        check_candidates(node_of(c, layout::row_major), "onednn");
      }
}

BOOST_AUTO_TEST_CASE(grouped_and_depthwise_convolutions_agree_with_the_reference) {
  for (const auto batch : {1, 3})
    for (const auto& c : {
             conv_case{batch, 24, 9, 13, 24, 3, 3, 24, {1, 1}, {1, 1, 1, 1}},
             conv_case{batch, 40, 11, 9, 40, 5, 5, 40, {2, 1}, {2, 2, 2, 2}},
             conv_case{batch, 200, 3, 9, 200, 5, 5, 200, {1, 1}, {2, 2, 2, 2}},
             conv_case{batch, 6, 10, 10, 6, 3, 3, 6, {2, 2}, {0, 0, 1, 1}},
             conv_case{batch, 24, 7, 6, 36, 3, 3, 3, {1, 1}, {1, 1, 1, 1}},
             conv_case{batch, 5, 7, 6, 10, 3, 3, 5, {1, 1}, {1, 1, 1, 1}},
         })
      check_candidates(node_of(c), "onednn");
}

BOOST_AUTO_TEST_CASE(row_major_convolutions_agree_with_the_reference) {
  for (const auto batch : {1, 3})
    check_candidates(
        node_of({batch, 7, 9, 11, 5, 3, 3, 1, {2, 1}, {1, 0, 0, 1}}, layout::row_major), "onednn");
}

BOOST_AUTO_TEST_CASE(a_one_dimensional_convolution_is_two_dimensional_with_one_row) {
  for (const auto format : {layout::channels_last, layout::row_major}) {
    kernel_case node{.op_type = "Conv",
                     .attributes = {},
                     .inputs = {{2, 6, 19}, {8, 6, 3}, {8}},
                     .constant = {false, true, true},
                     .output = {2, 8, 10},
                     .format = format};
    node.attributes.set("strides", std::vector<std::int64_t>{2});
    node.attributes.set("pads", std::vector<std::int64_t>{1, 1});
    check_candidates(node, "onednn");
  }
}

BOOST_AUTO_TEST_CASE(automatic_padding_agrees_with_the_reference) {
  for (const auto* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    kernel_case node{.op_type = "Conv",
                     .attributes = {},
                     .inputs = {{1, 4, 10, 7}, {8, 4, 4, 3}},
                     .constant = {false, true},
                     .output = {1, 8, 5, 4},
                     .format = layout::channels_last};
    if (std::string_view{mode} == "VALID")
      node.output = {1, 8, 4, 3};
    node.attributes.set("strides", std::vector<std::int64_t>{2, 2});
    node.attributes.set("auto_pad", std::string{mode});
    check_candidates(node, "onednn");
  }
}

BOOST_AUTO_TEST_CASE(activations_are_fused) {
  const std::vector<post_op> activations{
      {post_op_kind::relu},
      {post_op_kind::leaky_relu, 0.1F},
      {post_op_kind::clip, -0.5F, 0.75F},
      {post_op_kind::linear, 0.5F, -0.25F},
      {post_op_kind::sigmoid},
      {post_op_kind::tanh},
      {post_op_kind::hard_sigmoid, 0.2F, 0.5F},
      {post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F},
      {post_op_kind::hard_swish, 0.2F, 0.5F},
      {post_op_kind::silu},
      {post_op_kind::gelu_erf},
      {post_op_kind::gelu_tanh},
  };
  for (const auto& activation : activations)
    for (const auto& c : {conv_case{1, 12, 7, 5, 24, 3, 3}, conv_case{2, 12, 7, 5, 24, 1, 1},
                          conv_case{1, 24, 7, 5, 24, 3, 3, 24}}) {
      auto node = node_of(c);
      node.post_ops = {activation};
      check_candidates(node, "onednn");
    }
}

BOOST_AUTO_TEST_CASE(a_residual_is_added_before_or_after_the_activation) {
  for (const auto& c : {conv_case{2, 12, 7, 5, 24, 3, 3, 1, {1, 1}, {1, 1, 1, 1}},
                        conv_case{3, 64, 6, 5, 256, 1, 1}, conv_case{1, 24, 7, 5, 24, 3, 3, 24}}) {
    auto first = with_residual(node_of(c));
    first.post_ops.push_back({post_op_kind::relu});
    check_candidates(first, "onednn");
    auto last = node_of(c);
    last.post_ops.push_back({post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F});
    check_candidates(with_residual(last), "onednn");
  }
}

BOOST_AUTO_TEST_CASE(a_factor_per_channel_is_fused_or_left_to_the_helper) {
  for (const std::int64_t batch : {1, 2}) {
    auto node = node_of({batch, 12, 7, 5, 24, 3, 3});
    node.inputs.push_back({1, 24, 1, 1});
    node.constant.push_back(false);
    node.post_ops.push_back({post_op_kind::multiply, 0.0F, 0.0F, node.inputs.size() - 1});
    check_candidates(node, "onednn");
    node.inputs.back() = {batch, 24, 1, 1};
    check_candidates(node, "onednn");
  }
}

BOOST_AUTO_TEST_CASE(two_threads_give_what_one_gives) {
  for (const auto& c : {conv_case{1, 48, 30, 31, 24, 3, 3, 1, {1, 1}, {1, 1, 1, 1}},
                        conv_case{2, 48, 30, 31, 24, 1, 1},
                        conv_case{2, 24, 30, 31, 24, 3, 3, 24, {1, 1}, {1, 1, 1, 1}}}) {
    auto node = node_of(c);
    node.threads = 2;
    check_candidates(node, "onednn");
  }
}

BOOST_AUTO_TEST_CASE(a_second_shape_shares_the_packed_weights_of_the_first) {
  for (const auto& c : {conv_case{1, 96, 12, 10, 24, 3, 3, 1, {1, 1}, {1, 1, 1, 1}},
                        conv_case{1, 96, 12, 10, 24, 1, 1},
                        conv_case{1, 40, 12, 10, 40, 5, 5, 40, {1, 1}, {2, 2, 2, 2}}}) {
    weight_cache weights;
    const candidate_runner first{node_of(c)};
    std::size_t taken = 0;
    while (!first.run(taken, weights).taken)
      ++taken;
    const auto bytes = weights.bytes();
    BOOST_TEST(bytes > 0U);
    for (const auto batch : {2, 8}) {
      auto other = c;
      other.batch = batch;
      other.height = 31;
      candidate_runner second{node_of(other)};
      second.share_constants(first);
      BOOST_TEST(second.run(taken, weights).taken);
      BOOST_TEST(weights.bytes() == bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_that_are_not_constant_are_declined_with_the_reason) {
  auto node = node_of({1, 4, 5, 5, 8, 3, 3});
  node.constant[1] = false;
  weight_cache weights;
  const auto made = candidate_runner{node}.run(0, weights);
  BOOST_TEST(!made.taken);
  BOOST_TEST(made.reason.find("not constant") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
