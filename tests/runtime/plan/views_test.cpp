#include "runtime/plan/views.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

namespace {

graph::node node_of(std::string op, std::vector<std::int64_t> perm = {}) {
  graph::node made;
  made.op_type = std::move(op);
  if (!perm.empty())
    made.attributes.set("perm", std::move(perm));
  return made;
}

tensor_desc desc(shape dims, layout format = layout::row_major) {
  return {dtype::float32, std::move(dims), format};
}

} // namespace

BOOST_AUTO_TEST_SUITE(views)

BOOST_AUTO_TEST_CASE(pooled_features_are_the_same_bytes_in_both_layouts) {
  const shape pooled{2, 64, 1, 1};
  const shape one_channel{2, 1, 5, 7};
  const shape image{2, 3, 5, 7};
  BOOST_TEST(plan::same_bytes(pooled, layout::row_major, layout::channels_last));
  BOOST_TEST(plan::same_bytes(one_channel, layout::row_major, layout::channels_last));
  BOOST_TEST(!plan::same_bytes(image, layout::row_major, layout::channels_last));
  BOOST_TEST(!plan::same_bytes(pooled, layout::row_major, layout::blocked16));
}

BOOST_AUTO_TEST_CASE(a_reshape_renames_row_major_memory_only) {
  const shape flat{2, 105};
  BOOST_CHECK(plan::view_layout(node_of("Reshape"), desc({2, 3, 5, 7}), flat) == layout::row_major);
  BOOST_CHECK(
      !plan::view_layout(node_of("Reshape"), desc({2, 3, 5, 7}, layout::channels_last), flat));
  const shape pooled{2, 3};
  BOOST_CHECK(
      plan::view_layout(node_of("Flatten"), desc({2, 3, 1, 1}, layout::channels_last), pooled)
      == layout::row_major);
}

BOOST_AUTO_TEST_CASE(a_squeeze_of_a_spatial_axis_keeps_channels_last) {
  const shape squeezed{2, 3, 7};
  BOOST_CHECK(
      plan::view_layout(node_of("Squeeze"), desc({2, 3, 1, 7}, layout::channels_last), squeezed)
      == layout::channels_last);
  const shape without_batch{3, 5, 7};
  BOOST_CHECK(!plan::view_layout(node_of("Squeeze"), desc({1, 3, 5, 7}, layout::channels_last),
                                 without_batch));
}

BOOST_AUTO_TEST_CASE(a_reshape_of_spatial_axes_keeps_channels_last) {
  const auto features = desc({2, 3, 4, 6}, layout::channels_last);
  const shape merged{2, 3, 24};
  BOOST_CHECK(plan::view_layout(node_of("Reshape"), features, merged) == layout::channels_last);
  const shape split{2, 3, 8, 3};
  BOOST_CHECK(plan::view_layout(node_of("Reshape"), features, split) == layout::channels_last);
  const shape other_channels{2, 6, 12};
  BOOST_CHECK(!plan::view_layout(node_of("Reshape"), features, other_channels));
}

BOOST_AUTO_TEST_CASE(a_transpose_to_rows_of_channels_last_features_moves_nothing) {
  const shape rows{2, 7, 3};
  BOOST_CHECK(plan::view_layout(node_of("Transpose", {0, 2, 1}),
                                desc({2, 3, 7}, layout::channels_last), rows)
              == layout::row_major);
  BOOST_CHECK(plan::view_layout(node_of("Transpose", {0, 2, 1}), desc({2, 3, 7}), rows)
              == layout::channels_last);
  const shape swapped{7, 3, 2};
  BOOST_CHECK(!plan::view_layout(node_of("Transpose"), desc({2, 3, 7}), swapped));
}

BOOST_AUTO_TEST_CASE(a_transpose_that_moves_axes_of_one_moves_nothing) {
  const shape moved{1, 7, 3, 1};
  BOOST_CHECK(plan::view_layout(node_of("Transpose", {1, 2, 3, 0}), desc({1, 1, 7, 3}), moved)
              == layout::row_major);
}

BOOST_AUTO_TEST_CASE(what_computes_is_no_view) {
  const shape same{2, 3};
  BOOST_CHECK(!plan::view_layout(node_of("Relu"), desc({2, 3}), same));
  auto fused = node_of("Identity");
  fused.post_ops.push_back({post_op_kind::relu});
  BOOST_CHECK(!plan::view_layout(fused, desc({2, 3}), same));
}

BOOST_AUTO_TEST_SUITE_END()
