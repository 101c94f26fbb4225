#include "tests/kernels/candidate_runner.hpp"
#include "tests/kernels/op_case.hpp"

#include <cmath>

using namespace troupe;
using tests::check_candidates;
using tests::kernel_case;
using tests::op_case;
using longs = std::vector<std::int64_t>;

namespace {

kernel_case reducing(std::string op, shape dims, longs axes, shape output, bool keep = true) {
  kernel_case node{.op_type = std::move(op),
                   .attributes = {},
                   .inputs = {std::move(dims)},
                   .constant = {false},
                   .output = std::move(output)};
  node.attributes.set("axes", std::move(axes));
  node.attributes.set("keepdims", std::int64_t{keep});
  return node;
}

kernel_case softmax(shape dims, std::int64_t axis, int version) {
  kernel_case node{.op_type = "Softmax",
                   .attributes = {},
                   .inputs = {dims},
                   .constant = {false},
                   .output = dims,
                   .version = version};
  node.attributes.set("axis", axis);
  return node;
}

} // namespace

BOOST_AUTO_TEST_CASE(softmax_rows_sum_to_one) {
  const float e = std::exp(1.0F);
  op_case{"Softmax", 13}
      .input<float>({1, 2}, {0, 1})
      .check<float>({1, 2}, {1 / (1 + e), e / (1 + e)}, 1e-6);
  op_case{"Softmax", 13}.input<float>({2}, {1000, 1000}).check<float>({2}, {0.5F, 0.5F}, 1e-6);
  op_case{"LogSoftmax", 13}
      .input<float>({2}, {3, 3})
      .check<float>({2}, {-std::log(2.0F), -std::log(2.0F)}, 1e-6);
}

BOOST_AUTO_TEST_CASE(softmax_before_opset_13_flattens_from_its_axis) {
  // Axis 1 of [1, 2, 2]: all four values share one denominator.
  op_case{"Softmax", 11}
      .input<float>({1, 2, 2}, {0, 0, 0, 0})
      .check<float>({1, 2, 2}, {0.25F, 0.25F, 0.25F, 0.25F}, 1e-6);
  op_case{"Softmax", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({1, 2, 2}, {0, 0, 0, 0})
      .check<float>({1, 2, 2}, {0.5F, 0.5F, 0.5F, 0.5F}, 1e-6);
}

BOOST_AUTO_TEST_CASE(softmax_candidates_agree) {
  for (const auto& dims :
       {shape{3, 5, 1}, shape{2, 40, 6625}, shape{7, 33}, shape{0, 8}, shape{4, 16}})
    check_candidates(softmax(dims, -1, 13), "highway");
  check_candidates(softmax({2, 3, 4, 5}, 1, 11), "highway");
  check_candidates(softmax({2, 3, 4, 5}, 1, 13), "reference");
}

BOOST_AUTO_TEST_CASE(reductions_by_attribute_and_by_input) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  op_case{"ReduceMean", 13}
      .attribute("axes", longs{1})
      .input<float>({2, 3}, values)
      .check<float>({2, 1}, {2, 5});
  op_case{"ReduceMean", 18}
      .input<float>({2, 3}, values)
      .input<std::int64_t>({1}, {0}, true)
      .check<float>({1, 3}, {2.5F, 3.5F, 4.5F});
  op_case{"ReduceSum", 13}
      .attribute("keepdims", std::int64_t{0})
      .input<float>({2, 3}, values)
      .check<float>({}, {21});
  op_case{"ReduceSum", 13}
      .attribute("noop_with_empty_axes", std::int64_t{1})
      .input<float>({2}, {1, 2})
      .input<std::int64_t>({0}, {}, true)
      .check<float>({2}, {1, 2});
  op_case{"ReduceMax", 13}
      .attribute("axes", longs{-1})
      .input<float>({2, 3}, values)
      .check<float>({2, 1}, {3, 6});
  op_case{"ReduceMin", 13}.input<std::int64_t>({3}, {4, -2, 9}).check<std::int64_t>({1}, {-2});
  op_case{"ReduceProd", 13}.input<std::int64_t>({3}, {4, 2, 3}).check<std::int64_t>({1}, {24});
  op_case{"ReduceL2", 13}.input<float>({2}, {3, 4}).check<float>({1}, {5}, 1e-6);
  op_case{"ReduceSum", 13}
      .attribute("axes", longs{0})
      .input<float>({0, 2}, {})
      .check<float>({1, 2}, {0, 0});
}

BOOST_AUTO_TEST_CASE(reduction_candidates_agree) {
  check_candidates(reducing("ReduceMean", {2, 7, 384}, {-1}, {2, 7, 1}), "highway");
  check_candidates(reducing("ReduceMean", {2, 7, 5, 9}, {2, 3}, {2, 7, 1, 1}), "highway");
  check_candidates(reducing("ReduceSum", {3, 11, 17}, {1}, {3, 17}, false), "highway");
  check_candidates(reducing("ReduceSum", {3, 1, 17}, {0, 1}, {1, 1, 17}), "highway");
  check_candidates(reducing("ReduceMean", {4, 5, 6}, {0, 2}, {1, 5, 1}), "reference");
  check_candidates(reducing("ReduceMean", {0, 5}, {1}, {0, 1}), "highway");
}

BOOST_AUTO_TEST_CASE(a_team_divides_the_channels_of_a_single_image) {
  kernel_case node{.op_type = "GlobalAveragePool",
                   .attributes = {},
                   .inputs = {{1, 83, 40, 41}},
                   .constant = {false},
                   .output = {1, 83, 1, 1},
                   .format = layout::channels_last,
                   .threads = 3};
  check_candidates(node, "highway");
}

BOOST_AUTO_TEST_CASE(global_averages_agree_in_both_layouts) {
  for (const auto& dims : {shape{1, 3, 7, 7}, shape{2, 96, 23, 40}, shape{3, 5, 1, 1},
                           shape{0, 4, 2, 2}, shape{2, 8, 5, 9}, shape{1, 24, 7, 7},
                           shape{2, 88, 3, 11}, shape{1, 200, 2, 9}, shape{1, 300, 5, 5}})
    for (const auto format : {layout::row_major, layout::channels_last}) {
      kernel_case node{.op_type = "GlobalAveragePool",
                       .attributes = {},
                       .inputs = {dims},
                       .constant = {false},
                       .output = {dims[0], dims[1], 1, 1},
                       .format = format};
      check_candidates(node, "highway");
    }
  op_case{"GlobalMaxPool", 1}
      .input<float>({1, 2, 1, 2}, {1, 2, -4, -3})
      .check<float>({1, 2, 1, 1}, {2, -3});
}

BOOST_AUTO_TEST_CASE(layer_normalization_has_zero_mean_and_unit_deviation) {
  op_case{"LayerNormalization", 17}
      .attribute("epsilon", 0.0F)
      .input<float>({1, 2}, {1, 3})
      .input<float>({2}, {1, 2})
      .input<float>({2}, {0, 10})
      .check<float>({1, 2}, {-1, 12}, 1e-6);
  for (const auto width : {1, 5, 16, 384, 1000}) {
    kernel_case node{.op_type = "LayerNormalization",
                     .attributes = {},
                     .inputs = {{3, 5, width}, {width}, {width}},
                     .constant = {false, true, true},
                     .output = {3, 5, width},
                     .version = 17};
    check_candidates(node, "highway", 1e-4F);
  }
}

BOOST_AUTO_TEST_CASE(batch_normalization_uses_the_stored_statistics) {
  for (const auto format : {layout::row_major, layout::channels_last})
    for (const bool constant : {true, false})
      op_case{"BatchNormalization", 15}
          .attribute("epsilon", 0.0F)
          .in_layout(format, format)
          .input<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})
          .input<float>({2}, {1, 2}, constant)
          .input<float>({2}, {0, 1}, constant)
          .input<float>({2}, {2, 5}, constant)
          .input<float>({2}, {4, 0.25F}, constant)
          .check<float>({1, 2, 1, 3}, {-0.5F, 0, 0.5F, -3, 1, 5}, 1e-6);
}

BOOST_AUTO_TEST_CASE(argmax_finds_the_first_or_last_of_equals) {
  op_case{"ArgMax", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({2, 3}, {1, 5, 5, 9, 2, 3})
      .check<std::int64_t>({2, 1}, {1, 0});
  op_case{"ArgMax", 13}
      .attribute("axis", std::int64_t{1})
      .attribute("select_last_index", std::int64_t{1})
      .input<float>({1, 3}, {1, 5, 5})
      .check<std::int64_t>({1, 1}, {2});
  op_case{"ArgMin", 13}.input<float>({3}, {4, -2, 9}).check<std::int64_t>({1}, {1});
}
