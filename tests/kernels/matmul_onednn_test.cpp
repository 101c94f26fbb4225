#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

kernel_case node_of(shape left, shape right, shape output, bool constant) {
  return {.op_type = "MatMul",
          .attributes = {},
          .inputs = {std::move(left), std::move(right)},
          .constant = {false, constant},
          .output = std::move(output)};
}

BOOST_AUTO_TEST_SUITE(matmul_onednn)

BOOST_AUTO_TEST_CASE(products_agree_with_the_reference) {
  for (const bool constant : {false, true}) {
    check_candidates(node_of({5, 7}, {7, 3}, {5, 3}, constant), "onednn");
    check_candidates(node_of({1, 48}, {48, 100}, {1, 100}, constant), "onednn");
    check_candidates(node_of({2, 3, 17, 40}, {40, 33}, {2, 3, 17, 33}, constant), "onednn");
    check_candidates(node_of({3, 17, 40}, {1, 40, 33}, {3, 17, 33}, constant), "onednn");
    check_candidates(node_of({2, 3, 17, 40}, {2, 3, 40, 9}, {2, 3, 17, 9}, constant), "onednn");
    check_candidates(node_of({2, 1, 5, 4}, {3, 4, 6}, {2, 3, 5, 6}, constant), "onednn");
    check_candidates(node_of({5, 4}, {2, 4, 6}, {2, 5, 6}, constant), "onednn");
    check_candidates(node_of({4}, {4, 6}, {6}, constant), "onednn");
    check_candidates(node_of({2, 5, 4}, {4}, {2, 5}, constant), "onednn");
    check_candidates(node_of({4}, {4}, {}, constant), "onednn");
  }
}

BOOST_AUTO_TEST_CASE(post_ops_follow_a_product) {
  auto node = node_of({2, 17, 40}, {40, 33}, {2, 17, 33}, true);
  node.inputs.push_back({33});
  node.constant.push_back(true);
  node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 2}, {post_op_kind::gelu_erf}};
  check_candidates(node, "onednn");
  node.inputs.push_back({2, 17, 33});
  node.constant.push_back(false);
  node.post_ops.push_back({post_op_kind::add, 0.0F, 0.0F, 3});
  check_candidates(node, "onednn");
}

BOOST_AUTO_TEST_CASE(two_activations_of_one_kind_are_left_to_the_helper) {
  auto node = node_of({5, 7}, {7, 11}, {5, 11}, true);
  node.post_ops = {{post_op_kind::linear, 0.5F, 0.25F}, {post_op_kind::linear, 2.0F, -1.0F}};
  check_candidates(node, "onednn");
  node.post_ops = {{post_op_kind::clip, -1.0F, 1.0F}, {post_op_kind::hard_sigmoid, 0.2F, 0.5F}};
  check_candidates(node, "onednn");
}

BOOST_AUTO_TEST_CASE(a_mask_that_is_no_row_is_left_to_the_helper) {
  auto node = node_of({2, 3, 8, 4}, {2, 3, 4, 8}, {2, 3, 8, 8}, false);
  node.inputs.push_back({2, 1, 1, 8});
  node.constant.push_back(false);
  node.post_ops = {{post_op_kind::linear, 0.5F, 0.0F}, {post_op_kind::add, 0.0F, 0.0F, 2}};
  check_candidates(node, "onednn");
}

BOOST_AUTO_TEST_CASE(two_threads_give_what_one_gives) {
  auto node = node_of({4, 64, 96}, {96, 128}, {4, 64, 128}, true);
  node.threads = 2;
  check_candidates(node, "onednn");
}

BOOST_AUTO_TEST_CASE(a_second_shape_shares_the_packed_weights_of_the_first) {
  weight_cache weights;
  const candidate_runner first{node_of({1, 128, 96}, {96, 200}, {1, 128, 200}, true)};
  std::size_t taken = 0;
  while (!first.run(taken, weights).taken)
    ++taken;
  const auto bytes = weights.bytes();
  BOOST_TEST(bytes > 0U);
  for (const std::int64_t rows : {1, 7, 1024}) {
    candidate_runner second{node_of({1, rows, 96}, {96, 200}, {1, rows, 200}, true)};
    second.share_constants(first);
    BOOST_TEST(second.run(taken, weights).taken);
    BOOST_TEST(weights.bytes() == bytes);
  }
}

BOOST_AUTO_TEST_CASE(gemm_agrees_with_the_reference) {
  for (const bool constant : {false, true})
    for (const std::int64_t left_swapped : {0, 1})
      for (const std::int64_t right_swapped : {0, 1})
        for (const float alpha : {1.0F, 0.5F})
          for (const float beta : {1.0F, 2.0F, 0.0F})
            for (const auto& addend : std::vector<shape>{{11}, {1, 11}, {5, 11}, {1}, {5, 1}, {}}) {
              kernel_case node{.op_type = "Gemm",
                               .attributes = {},
                               .inputs = {left_swapped != 0 ? shape{7, 5} : shape{5, 7},
                                          right_swapped != 0 ? shape{11, 7} : shape{7, 11}, addend},
                               .constant = {false, constant, constant},
                               .output = {5, 11}};
              node.attributes.set("transA", left_swapped);
              node.attributes.set("transB", right_swapped);
              node.attributes.set("alpha", alpha);
              node.attributes.set("beta", beta);
              const bool scaled_twice = beta == 2.0F && alpha != beta;
              const bool column = addend == shape{5, 1} && beta != 0.0F;
              check_candidates(node, column || scaled_twice ? "reference" : "onednn");
            }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
