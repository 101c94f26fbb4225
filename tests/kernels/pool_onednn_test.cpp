#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

struct pool_case {
  shape input;
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> pads;
  std::int64_t ceil_mode;
  shape output;
};

BOOST_AUTO_TEST_SUITE(pool_onednn)

BOOST_AUTO_TEST_CASE(pools_agree_with_the_reference) {
  const std::vector<pool_case> cases{
      {{1, 16, 12, 9}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, {1, 16, 6, 4}},
      {{3, 24, 11, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, {3, 24, 6, 7}},
      {{1, 7, 10, 10}, {3, 2}, {2, 1}, {0, 1, 1, 0}, 0, {1, 7, 5, 10}},
      {{2, 5, 8, 8}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 1, {2, 5, 4, 4}},
      {{1, 480, 3, 80}, {3, 2}, {3, 2}, {0, 0, 0, 0}, 0, {1, 480, 1, 40}},
  };
  for (const auto* op : {"MaxPool", "AveragePool"})
    for (const auto& c : cases)
      for (const std::int64_t include_pad : {0, 1}) {
        kernel_case node{.op_type = op,
                         .attributes = {},
                         .inputs = {c.input},
                         .constant = {false},
                         .output = c.output,
                         .format = layout::channels_last};
        node.attributes.set("kernel_shape", c.kernel);
        node.attributes.set("strides", c.strides);
        node.attributes.set("pads", c.pads);
        node.attributes.set("ceil_mode", c.ceil_mode);
        if (std::string_view{op} == "AveragePool")
          node.attributes.set("count_include_pad", include_pad);
        const bool average_beyond =
            c.ceil_mode != 0 && include_pad != 0 && std::string_view{op} == "AveragePool";
        check_candidates(node, average_beyond ? "reference" : "onednn");
      }
}

BOOST_AUTO_TEST_CASE(global_pools_agree_with_the_reference) {
  for (const auto* op : {"GlobalAveragePool", "GlobalMaxPool"})
    for (const std::int64_t channels : {1, 24, 96, 200}) {
      kernel_case node{.op_type = op,
                       .attributes = {},
                       .inputs = {{2, channels, 7, 13}},
                       .constant = {false},
                       .output = {2, channels, 1, 1},
                       .format = layout::channels_last};
      check_candidates(node, "onednn");
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
