#include "runtime/graph/infer.hpp"
#include "tests/runtime/support/graph_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_CASE(a_sample_is_as_large_as_its_grid) {
  graph_kit kit;
  kit.node("GridSample", {kit.input("x", {0, 3, 8, 9}), kit.input("grid", {0, 4, 5, 2})}, {}, 20);
  BOOST_TEST(inferred(kit) == "[n,3,4,5]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(a_grid_of_other_coordinates_is_refused) {
  graph_kit kit;
  kit.node("GridSample", {kit.input("x", {0, 3, 8, 9}), kit.input("grid", {0, 4, 5, 3})}, {}, 20);
  BOOST_TEST(inferred(kit).find("size 2 in axis 3 expected") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(regions_choose_among_images) {
  graph_kit kit;
  kit.node("RoiAlign",
           {kit.input("x", {0, 3, 8, 9}), kit.input("regions", {-1, 4}),
            kit.input("images", {-1}, dtype::int64)},
           with({{"output_height", std::int64_t{2}}, {"output_width", std::int64_t{7}}}), 16);
  BOOST_TEST(inferred(kit).find(",3,2,7]") != std::string::npos);
  BOOST_TEST(!rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(columns_become_an_image) {
  graph_kit kit;
  kit.node("Col2Im",
           {kit.input("x", {0, 12, 4}), kit.constant(integers({2}, {4, 4})),
            kit.constant(integers({2}, {2, 2}))},
           with("strides", ints({2, 2})), 18);
  BOOST_TEST(inferred(kit) == "[n,3,4,4]");
  BOOST_TEST(rows_stay_apart(kit));
}

BOOST_AUTO_TEST_CASE(an_aspect_ratio_is_kept_with_one_scale) {
  for (const bool larger : {false, true}) {
    graph_kit kit;
    kit.node(
        "Resize",
        {kit.input("x", {1, 1, 2, 4}), graph::no_value, graph::no_value,
         kit.constant(integers({2}, {7, 8}))},
        with({{"axes", ints({2, 3})},
              {"keep_aspect_ratio_policy", std::string{larger ? "not_smaller" : "not_larger"}}}),
        18);
    BOOST_TEST(inferred(kit) == (larger ? "[1,1,7,14]" : "[1,1,4,8]"));
  }
}

BOOST_AUTO_TEST_CASE(random_numbers_are_of_the_type_and_shape_asked_for) {
  graph_kit kit;
  kit.node("RandomNormal", {}, with("shape", ints({2, 3})), 1);
  BOOST_TEST(inferred(kit) == "[2,3]");
  BOOST_TEST(graph::draws_random(kit.made.nodes.back()));
}
