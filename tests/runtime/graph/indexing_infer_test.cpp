#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

graph::value_id whole_numbers(graph_kit& kit, shape dims, std::vector<std::int64_t> content) {
  return kit.constant(integers(std::move(dims), std::move(content)));
}

} // namespace

BOOST_AUTO_TEST_CASE(gathered_elements_have_the_shape_of_their_indices) {
  graph_kit kit;
  const auto data = kit.input("data", {0, 4});
  const auto indices = kit.input("indices", {0, 2}, dtype::int64);
  kit.node("GatherElements", {data, indices}, with("axis", std::int64_t{1}));
  BOOST_TEST(inferred(kit) == "[n,2]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(indices_beyond_the_data_are_refused) {
  graph_kit kit;
  kit.node("GatherElements", {kit.input("data", {3, 4}), kit.input("i", {4, 4}, dtype::int64)},
           with("axis", std::int64_t{1}));
  BOOST_TEST(inferred(kit).find("indices within [3,4] expected, [4,4] found") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(index_tuples_leave_the_axes_they_do_not_name) {
  graph_kit kit;
  const auto data = kit.constant(noise({5, 6, 7}, 1));
  const auto indices = kit.input("indices", {0, 3, 2}, dtype::int64);
  kit.node("GatherND", {data, indices});
  BOOST_TEST(inferred(kit) == "[n,3,7]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(scattering_by_row_numbers_mixes_rows) {
  graph_kit kit;
  const auto data = kit.input("data", {0, 4});
  const auto updates = kit.input("updates", {0, 4});
  kit.node("ScatterND", {data, kit.input("i", {0, 1}, dtype::int64), updates});
  BOOST_TEST(inferred(kit) == "[n,4]");
  BOOST_TEST(!rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(blocks_move_between_channels_and_space) {
  graph_kit kit;
  const auto deep =
      kit.node("SpaceToDepth", {kit.input("x", {0, 3, 8, 6})}, with("blocksize", std::int64_t{2}));
  kit.node("DepthToSpace", {deep}, with("blocksize", std::int64_t{2}));
  BOOST_TEST(inferred(kit) == "[n,3,8,6]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(a_new_axis_is_as_long_as_the_depth_says) {
  graph_kit kit;
  const auto indices = kit.input("indices", {0, 2}, dtype::int64);
  kit.node("OneHot", {indices, kit.scalar(5), kit.constant(floats({2}, {0, 1}))},
           with("axis", std::int64_t{1}));
  BOOST_TEST(inferred(kit) == "[n,5,2]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(the_number_of_the_best_follows_shapes) {
  graph_kit kit;
  const auto x = kit.input("x", {0, 9});
  const auto names = kit.input("y", {0, 4});
  const auto k = kit.node("Gather", {kit.node("Shape", {names}), whole_numbers(kit, {1}, {1})});
  kit.node("TopK", {x, k});
  BOOST_TEST(inferred(kit) == "[n,4]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(cutting_other_axes_keeps_rows_apart) {
  graph_kit kit;
  kit.node("CenterCropPad", {kit.input("x", {0, 5, 6}), whole_numbers(kit, {2}, {4, 8})},
           with("axes", ints({1, -1})), 18);
  BOOST_TEST(inferred(kit) == "[n,4,8]");
  BOOST_TEST(rows_stay_apart(kit));
}
