#include "runtime/plan/flops.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace troupe;

namespace {

struct node_shapes {
  std::string domain;
  std::string op_type;
  std::vector<shape> inputs;
  shape output;
  attribute_map attributes{};

  [[nodiscard]] double flops() const {
    std::vector<operand> read;
    for (const auto& dims : inputs)
      read.push_back({true, {dtype::float32, dims}, nullptr});
    const std::vector<tensor_desc> written{{dtype::float32, output}};
    const small_vector<bool, 4> wanted{true};
    return plan::flops_of({domain, op_type, 24, &attributes, read, written, wanted, {}})
        .value_or(-1);
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_convolution_multiplies_a_filter_for_each_element_it_writes) {
  BOOST_TEST((node_shapes{"", "Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {1, 16, 8, 8}}.flops())
             == 2.0 * 16 * 8 * 8 * 27);
  BOOST_TEST((node_shapes{"", "Conv", {{1, 16, 8, 8}, {16, 1, 3, 3}}, {1, 16, 8, 8}}.flops())
             == 2.0 * 16 * 8 * 8 * 9); // depthwise
  BOOST_TEST(
      (node_shapes{"", "ConvTranspose", {{1, 4, 5, 5}, {4, 2, 2, 2}}, {1, 2, 10, 10}}.flops())
      == 2.0 * 100 * 8);
  BOOST_TEST(
      (node_shapes{"", "QLinearConv", {{1, 3, 8, 8}, {}, {}, {16, 3, 3, 3}}, {1, 16, 6, 6}}.flops())
      == 2.0 * 16 * 6 * 6 * 27);
}

BOOST_AUTO_TEST_CASE(a_matrix_product_multiplies_a_row_and_a_column_for_each_element) {
  BOOST_TEST((node_shapes{"", "MatMul", {{2, 5, 7}, {7, 3}}, {2, 5, 3}}.flops())
             == 2.0 * 2 * 5 * 3 * 7);
  attribute_map turned;
  turned.set("transA", std::int64_t{1});
  BOOST_TEST((node_shapes{"", "Gemm", {{7, 5}, {7, 3}}, {5, 3}, turned}.flops())
             == 2.0 * 5 * 3 * 7);
}

BOOST_AUTO_TEST_CASE(a_recurrent_layer_multiplies_all_weights_at_each_step) {
  BOOST_TEST((node_shapes{"", "LSTM", {{9, 2, 4}, {1, 20, 4}, {1, 20, 5}}, {9, 1, 2, 5}}.flops())
             == 2.0 * 9 * 2 * 20 * (4 + 5));
}

BOOST_AUTO_TEST_CASE(attention_multiplies_queries_with_keys_and_weights_with_values) {
  const auto expected = 2.0 * 2 * 3 * 5 * 7 * (4 + 6);
  BOOST_TEST((node_shapes{"", "Attention", {{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}}, {2, 3, 5, 6}}
                  .flops())
             == expected);
  attribute_map fused;
  fused.set("q_perm", std::vector<std::int64_t>{0, 2, 1, 3});
  fused.set("k_perm", std::vector<std::int64_t>{0, 1, 2, 3});
  fused.set("v_perm", std::vector<std::int64_t>{0, 1, 2, 3});
  fused.set("out_perm", std::vector<std::int64_t>{0, 1, 2, 3});
  fused.set("scale", 1.0F);
  BOOST_TEST(
      (node_shapes{
          "troupe", "Attention", {{2, 5, 3, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}}, {2, 3, 5, 6}, fused}
           .flops())
      == expected);
}

BOOST_AUTO_TEST_CASE(what_makes_no_products_has_no_count) {
  BOOST_TEST((node_shapes{"", "Softmax", {{4, 4}}, {4, 4}}.flops()) == -1);
  BOOST_TEST((node_shapes{"", "MatMul", {{4}}, {}}.flops()) == -1); // without its other side
}
