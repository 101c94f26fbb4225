#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

struct window_case {
  std::int64_t batch = 1;
  std::int64_t channels = 3;
  std::int64_t filters = 16;
  std::int64_t groups = 1;
  std::vector<std::int64_t> kernel{3, 3};
  std::vector<std::int64_t> strides{1, 1};
  std::vector<std::int64_t> dilations{1, 1};
  std::vector<std::int64_t> pads{1, 1, 1, 1};
  int threads = 1;
};

kernel_case node_of(const window_case& of) {
  const std::int64_t height = 19;
  const std::int64_t width = 23;
  const auto size = [&](std::size_t axis, std::int64_t input) {
    const auto span = of.dilations[axis] * (of.kernel[axis] - 1) + 1;
    return (input + of.pads[axis] + of.pads[axis + 2] - span) / of.strides[axis] + 1;
  };
  kernel_case node{.op_type = "Conv",
                   .attributes = {},
                   .inputs = {{of.batch, of.channels, height, width},
                              {of.filters, of.channels / of.groups, of.kernel[0], of.kernel[1]},
                              {of.filters}},
                   .constant = {false, true, true},
                   .output = {of.batch, of.filters, size(0, height), size(1, width)},
                   .format = layout::channels_last,
                   .threads = of.threads};
  node.attributes.set("group", of.groups);
  node.attributes.set("strides", of.strides);
  node.attributes.set("dilations", of.dilations);
  node.attributes.set("pads", of.pads);
  return node;
}

void check(const window_case& of) {
  check_candidates(node_of(of), "packed:windows");
}

BOOST_AUTO_TEST_SUITE(conv_windows)

BOOST_AUTO_TEST_CASE(windows_of_all_shapes_agree_with_the_reference) {
  check({.kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}});
  check({.batch = 3, .channels = 20, .filters = 37, .strides = {2, 1}});
  check({.channels = 8, .filters = 5, .kernel = {1, 5}, .pads = {0, 2, 0, 2}});
  check({.channels = 4, .filters = 9, .dilations = {2, 3}, .pads = {0, 1, 2, 0}});
  check({.channels = 64, .filters = 64, .kernel = {2, 2}, .strides = {2, 2}, .pads = {0, 0, 0, 0}});
}

BOOST_AUTO_TEST_CASE(groups_of_channels_have_filters_of_their_own) {
  check({.batch = 2, .channels = 12, .filters = 96, .groups = 3});
  check({.channels = 8, .filters = 64, .groups = 2, .strides = {2, 2}});
}

BOOST_AUTO_TEST_CASE(steps_behind_a_windowed_convolution_are_fused_on_two_threads) {
  auto node = node_of({.batch = 2, .channels = 16, .filters = 40, .strides = {2, 2}, .threads = 2});
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 3}, {post_op_kind::relu}};
  check_candidates(node, "packed:windows");
  auto groups = node_of({.channels = 12, .filters = 96, .groups = 3, .threads = 2});
  groups.inputs.push_back(groups.output);
  groups.constant.push_back(false);
  groups.post_ops = {{post_op_kind::sigmoid}, {post_op_kind::add, 0.0F, 0.0F, 3}};
  check_candidates(groups, "packed:windows");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
