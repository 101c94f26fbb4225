#include "kernels/cpu/matmul/packed_product.hpp"
#include "tests/kernels/pointwise_case.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

kernel_case matmul_of(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return {.op_type = "MatMul",
          .attributes = {},
          .inputs = {{1, rows, inner}, {inner, columns}},
          .constant = {false, true},
          .output = {1, rows, columns}};
}

std::string reason_of(const kernel_case& node) {
  weight_cache weights;
  return candidate_runner{node}.run(0, weights).reason;
}

// With narrow register tiles the kernel declines everything, and there is nothing to test but that.
boost::test_tools::assertion_result tiles_are_wide(boost::unit_test::test_unit_id) {
  return cpu::packed_product::best_vectors().wide >= 4;
}

BOOST_AUTO_TEST_CASE(narrow_register_tiles_leave_it_to_the_plain_product) {
  const auto reason = reason_of(matmul_of(96, 256, 256));
  const bool declines = reason.find("register tiles are too narrow") != std::string::npos;
  BOOST_TEST(declines == (cpu::packed_product::best_vectors().wide < 4), reason);
}

BOOST_AUTO_TEST_SUITE(strassen_product, *boost::unit_test::precondition(tiles_are_wide))

// The last block of rows may be anything from half a block to one and a half, odd or even.
BOOST_AUTO_TEST_CASE(products_of_any_size_agree_with_the_reference) {
  for (const std::int64_t rows : {48, 49, 71, 72, 73, 95, 97, 120, 167})
    for (const std::int64_t columns : {96, 112, 130, 240})
      check_candidates(matmul_of(rows, 130, columns), "strassen");
  check_candidates(matmul_of(50, 512, 256), "strassen"); // rows that share places in the cache
}

BOOST_AUTO_TEST_CASE(pointwise_convolutions_with_all_that_follows_them) {
  auto node = pointwise_of({2, 128, 7, 9}, 144);
  check_candidates(node, "strassen");
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  const post_op residual{post_op_kind::add, 0.0F, 0.0F, 3};
  for (const auto& activation : {post_op{post_op_kind::relu}, post_op{post_op_kind::gelu_erf},
                                 post_op{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}}) {
    node.post_ops = {activation, residual};
    check_candidates(node, "strassen");
  }
}

BOOST_AUTO_TEST_CASE(strided_windows_of_one_element_are_gathered) {
  for (const std::int64_t threads : {1, 2}) {
    auto node = pointwise_of({2, 128, 19, 15}, 144);
    node.output = {2, 144, 10, 5};
    node.attributes.set("strides", std::vector<std::int64_t>{2, 3});
    node.threads = static_cast<int>(threads);
    node.inputs.push_back(node.output);
    node.constant.push_back(false);
    node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, 3}, {post_op_kind::relu}};
    check_candidates(node, "strassen:strided");
  }
}

BOOST_AUTO_TEST_CASE(two_threads_share_the_rows) {
  for (const std::int64_t rows : {96, 201}) {
    auto node = matmul_of(rows, 160, 200);
    node.threads = 2;
    check_candidates(node, "strassen");
  }
}

BOOST_AUTO_TEST_CASE(the_bits_of_an_image_depend_neither_on_its_batch_nor_on_threads) {
  weight_cache weights;
  const auto find = [&](const candidate_runner& of) {
    std::size_t index = 0;
    while (of.run(index, weights).name != "strassen")
      ++index;
    return of.run(index, weights).output;
  };
  auto node = pointwise_of({3, 128, 13, 11}, 112);
  node.format = layout::channels_last;
  const candidate_runner all{node};
  const auto whole = find(all);
  node.threads = 2;
  candidate_runner shared{node};
  shared.share_constants(all);
  BOOST_TEST(find(shared) == whole);
  auto one = pointwise_of({1, 128, 13, 11}, 112);
  candidate_runner first{one};
  first.share_constants(all);
  const auto alone = find(first);
  BOOST_TEST(std::equal(alone.begin(), alone.end(), whole.begin()));
}

BOOST_AUTO_TEST_CASE(rows_of_several_requests_are_never_added_to_each_other) {
  auto matrix = matmul_of(96, 256, 256);
  matrix.inputs[0] = {96, 256};
  matrix.output = {96, 256};
  BOOST_TEST(reason_of(matrix).find("several requests") != std::string::npos);
  auto positions_first = matmul_of(96, 256, 256);
  positions_first.attributes.set(std::string{rows_inside}, std::int64_t{1});
  BOOST_TEST(reason_of(positions_first).find("several requests") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(blocks_that_threads_cannot_share_are_left_to_others) {
  auto node = matmul_of(128, 256, 256); // three blocks
  check_candidates(node, "strassen");
  node.threads = 2;
  BOOST_TEST(reason_of(node).find("unevenly") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(small_and_odd_products_are_left_to_others) {
  BOOST_TEST(reason_of(matmul_of(47, 256, 256)).find("rows") != std::string::npos);
  BOOST_TEST(reason_of(matmul_of(96, 129, 256)).find("too small or odd") != std::string::npos);
  BOOST_TEST(reason_of(matmul_of(96, 64, 256)).find("too small or odd") != std::string::npos);
  BOOST_TEST(reason_of(matmul_of(96, 256, 5)).find("too small or odd") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
