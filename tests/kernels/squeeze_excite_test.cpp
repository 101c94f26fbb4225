#include "kernels/op/squeeze_excite.hpp"
#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

constexpr post_op relu{post_op_kind::relu};
constexpr post_op gate{post_op_kind::hard_sigmoid, 0.2F, 0.5F};

kernel_case node_of(const shape& image, std::int64_t squeezed, const std::vector<post_op>& squeeze,
                    const std::vector<post_op>& excite) {
  const auto channels = image[1];
  kernel_case node{.op_type = "SqueezeExcite",
                   .attributes = {},
                   .inputs = {image,
                              {squeezed, channels, 1, 1},
                              {squeezed},
                              {channels, squeezed, 1, 1},
                              {channels}},
                   .constant = {false, true, true, true, true},
                   .output = image,
                   .format = layout::channels_last,
                   .version = 1,
                   .domain = "troupe"};
  squeeze_excite::set_steps(node.attributes, squeeze_excite::squeeze_steps, squeeze);
  squeeze_excite::set_steps(node.attributes, squeeze_excite::excite_steps, excite);
  return node;
}

BOOST_AUTO_TEST_SUITE(squeeze_and_excite)

BOOST_AUTO_TEST_CASE(channels_that_fill_no_vector_agree_with_the_reference) {
  for (const std::int64_t channels : {1, 3, 8, 24, 37, 64, 88, 200, 251, 960})
    for (const std::int64_t squeezed : {1, 6, 22, 60})
      check_candidates(node_of({2, channels, 7, 9}, squeezed, {relu}, {gate}), "highway");
}

BOOST_AUTO_TEST_CASE(images_of_any_size_agree_with_the_reference) {
  for (const std::int64_t height : {1, 2, 5, 40})
    for (const std::int64_t width : {1, 3, 64})
      check_candidates(node_of({1, 40, height, width}, 10, {relu}, {gate}), "highway");
}

BOOST_AUTO_TEST_CASE(activations_of_both_products_are_applied) {
  const std::vector<std::vector<post_op>> chains{
      {},
      {{post_op_kind::silu}},
      {{post_op_kind::leaky_relu, 0.1F}},
      {{post_op_kind::linear, 2.0F, -1.0F}, {post_op_kind::clip, -0.5F, 0.75F}},
      {{post_op_kind::sigmoid}},
      {{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}}};
  for (const auto& squeeze : chains)
    for (const auto& excite : chains)
      check_candidates(node_of({2, 24, 6, 5}, 6, squeeze, excite), "highway");
}

BOOST_AUTO_TEST_CASE(a_team_shares_images_or_each_of_them) {
  for (const std::int64_t images : {1, 2, 3, 8}) {
    auto node = node_of({images, 48, 31, 29}, 12, {relu}, {gate});
    node.threads = 2;
    check_candidates(node, "highway");
  }
}

BOOST_AUTO_TEST_CASE(steps_behind_the_product_are_fused) {
  auto node = node_of({2, 37, 9, 7}, 9, {relu}, {{post_op_kind::sigmoid}});
  node.inputs.push_back(node.output);
  node.constant.push_back(false);
  node.post_ops = {{post_op_kind::add, 0.0F, 0.0F, squeeze_excite::input_count}, relu};
  check_candidates(node, "highway");
  node.post_ops = {{post_op_kind::multiply, 0.0F, 0.0F, squeeze_excite::input_count}};
  check_candidates(node, "highway"); // by a pass over the result
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
