#include "tests/kernels/pointwise_case.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

kernel_case matmul_of(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return {.op_type = "MatMul",
          .attributes = {},
          .inputs = {{rows, inner}, {inner, columns}},
          .constant = {false, true},
          .output = {rows, columns}};
}

BOOST_AUTO_TEST_SUITE(packed_product)

BOOST_AUTO_TEST_CASE(products_of_any_size_agree_with_the_reference) {
  for (const std::int64_t rows : {1, 2, 5, 11, 12, 13, 24, 25, 49, 70})
    for (const std::int64_t columns : {1, 7, 8, 16, 24, 31, 48, 64, 80, 97, 160, 250})
      check_candidates(matmul_of(rows, 19, columns), "packed");
  check_candidates(matmul_of(60, 512, 256), "packed");
  check_candidates(matmul_of(40, 1, 40), "packed");
}

BOOST_AUTO_TEST_CASE(leading_axes_are_rows) {
  auto node = matmul_of(1, 40, 33);
  node.inputs = {{2, 3, 17, 40}, {40, 33}};
  node.output = {2, 3, 17, 33};
  check_candidates(node, "packed");
  node.inputs = {{40}, {40, 33}};
  node.output = {33};
  check_candidates(node, "packed");
}

BOOST_AUTO_TEST_CASE(bias_activations_and_residuals_are_fused) {
  for (const std::int64_t columns : {64, 37}) {
    auto node = matmul_of(33, 20, columns);
    node.inputs.push_back({columns});
    node.inputs.push_back(node.output);
    node.constant.insert(node.constant.end(), {true, false});
    const post_op bias{post_op_kind::add, 0.0F, 0.0F, 2};
    const post_op residual{post_op_kind::add, 0.0F, 0.0F, 3};
    for (const auto& activation :
         {post_op{post_op_kind::relu}, post_op{post_op_kind::leaky_relu, 0.1F},
          post_op{post_op_kind::clip, -0.5F, 0.75F}, post_op{post_op_kind::linear, 0.5F, -0.25F},
          post_op{post_op_kind::hard_sigmoid, 0.2F, 0.5F},
          post_op{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}, post_op{post_op_kind::sigmoid},
          post_op{post_op_kind::tanh}, post_op{post_op_kind::silu}, post_op{post_op_kind::gelu_erf},
          post_op{post_op_kind::gelu_tanh}}) {
      node.post_ops = {bias, activation, residual};
      check_candidates(node, "packed");
      node.post_ops = {residual, activation};
      check_candidates(node, "packed");
    }
  }
}

BOOST_AUTO_TEST_CASE(pointwise_convolutions_are_products_over_positions) {
  for (const std::int64_t out_channels : {16, 48, 96}) {
    auto node = pointwise_of({2, 24, 9, 7}, out_channels);
    check_candidates(node, "packed");
    node.inputs.push_back(node.output);
    node.constant.push_back(false);
    node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 3}, {post_op_kind::relu}};
    check_candidates(node, "packed");
  }
}

BOOST_AUTO_TEST_CASE(two_threads_give_what_one_gives) {
  for (const std::int64_t rows : {30, 200, 1001}) {
    auto node = matmul_of(rows, 96, 130);
    node.threads = 2;
    check_candidates(node, "packed");
  }
}

BOOST_AUTO_TEST_CASE(gemm_takes_a_row_and_a_transposed_matrix) {
  for (const std::int64_t transposed : {0, 1}) {
    kernel_case node{.op_type = "Gemm",
                     .attributes = {},
                     .inputs = {{5, 70}, transposed != 0 ? shape{110, 70} : shape{70, 110}, {110}},
                     .constant = {false, true, true},
                     .output = {5, 110}};
    node.attributes.set("transB", transposed);
    check_candidates(node, "packed");
  }
}

BOOST_AUTO_TEST_CASE(any_number_of_rows_shares_the_packed_weights) {
  weight_cache weights;
  const candidate_runner first{matmul_of(1, 96, 200)};
  std::size_t packed = 0;
  while (first.run(packed, weights).name != "packed")
    ++packed;
  const auto bytes = weights.bytes();
  for (const std::int64_t rows : {7, 128, 1024}) {
    candidate_runner second{matmul_of(rows, 96, 200)};
    second.share_constants(first);
    BOOST_TEST(second.run(packed, weights).taken);
    BOOST_TEST(weights.bytes() == bytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
