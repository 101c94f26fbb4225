#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

struct transposed_case {
  std::int64_t batch, channels, height, width, out_channels, kernel;
  std::int64_t groups = 1;
  std::int64_t stride = 2;
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::int64_t extra = 0;
  std::int64_t dilation = 1;
  bool bias = true;
};

kernel_case node_of(const transposed_case& c) {
  const auto extent = [&](std::int64_t in, std::int64_t pads) {
    return (in - 1) * c.stride + c.dilation * (c.kernel - 1) + 1 + c.extra - pads;
  };
  kernel_case node{.op_type = "ConvTranspose",
                   .attributes = {},
                   .inputs = {{c.batch, c.channels, c.height, c.width},
                              {c.channels, c.out_channels / c.groups, c.kernel, c.kernel}},
                   .constant = {false, true},
                   .output = {c.batch, c.out_channels, extent(c.height, c.pads[0] + c.pads[2]),
                              extent(c.width, c.pads[1] + c.pads[3])},
                   .format = layout::channels_last};
  if (c.bias) {
    node.inputs.push_back({c.out_channels});
    node.constant.push_back(true);
  }
  node.attributes.set("group", c.groups);
  node.attributes.set("pads", c.pads);
  node.attributes.set("strides", std::vector<std::int64_t>{c.stride, c.stride});
  node.attributes.set("dilations", std::vector<std::int64_t>{c.dilation, c.dilation});
  node.attributes.set("output_padding", std::vector<std::int64_t>{c.extra, c.extra});
  return node;
}

BOOST_AUTO_TEST_SUITE(conv_transpose_onednn)

BOOST_AUTO_TEST_CASE(tiles_agree_with_the_reference) {
  for (const std::int64_t batch : {1, 3})
    for (const std::int64_t out_channels : {1, 3, 24})
      for (const std::int64_t stride : {2, 3})
        for (const bool bias : {false, true}) {
          transposed_case c{batch, 24, 7, 9, out_channels, stride};
          c.stride = stride;
          c.bias = bias;
          auto node = node_of(c);
          check_candidates(node, "onednn:tiles");
          node.threads = 2;
          node.post_ops = {{post_op_kind::sigmoid}};
          check_candidates(node, "onednn:tiles");
        }
}

BOOST_AUTO_TEST_CASE(a_large_tiling_runs_on_two_threads) {
  auto node = node_of({1, 24, 120, 150, 5, 2});
  node.threads = 2;
  check_candidates(node, "onednn:tiles");
}

BOOST_AUTO_TEST_CASE(overlapping_padded_and_dilated_windows_agree_with_the_reference) {
  for (const auto& c : {transposed_case{2, 8, 5, 6, 16, 3, 1, 2, {1, 1, 1, 1}, 1},
                        transposed_case{1, 16, 5, 6, 8, 4, 1, 2, {1, 1, 1, 1}},
                        transposed_case{1, 8, 5, 6, 16, 3, 1, 1, {1, 0, 0, 1}},
                        transposed_case{1, 3, 5, 6, 5, 3, 1, 2, {0, 0, 0, 0}, 0, 2}})
    check_candidates(node_of(c), "onednn");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
