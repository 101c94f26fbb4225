#include "kernels/tensor/half.hpp"
#include "tests/kernels/op_case.hpp"

#include <limits>

using troupe::dtype;
using troupe::shape;
using troupe::tests::counted;
using troupe::tests::op_case;
using longs = std::vector<std::int64_t>;
using floats = std::vector<float>;

namespace {

constexpr auto not_a_number = std::numeric_limits<float>::quiet_NaN();

} // namespace

BOOST_AUTO_TEST_CASE(elements_are_gathered_along_an_axis) {
  op_case{"GatherElements", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({2, 2}, {1, 2, 3, 4})
      .input<std::int64_t>({2, 3}, {0, 0, -1, 1, 0, 1})
      .check<float>({2, 3}, {1, 1, 2, 4, 3, 4});
  op_case{"GatherElements", 13}
      .input<std::uint8_t>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})
      .input<std::int32_t>({1, 2}, {2, -2})
      .check<std::uint8_t>({1, 2}, {7, 5});
  op_case{"GatherElements", 13}
      .input<double>({3, 0}, {})
      .input<std::int64_t>({2, 0}, {})
      .check<double>({2, 0}, {});
  const auto error = op_case{"GatherElements", 13}
                         .input<float>({2}, {1, 2})
                         .input<std::int64_t>({1}, {2})
                         .launch_error(dtype::float32, {1});
  BOOST_TEST(error.find("2 found") != std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(elements_are_scattered_and_may_meet) {
  const auto scatter = [](const char* reduction) {
    op_case made{"ScatterElements", 18};
    made.attribute("axis", std::int64_t{1})
        .attribute("reduction", std::string{reduction})
        .input<float>({1, 5}, {1, 2, 3, 4, 5})
        .input<std::int64_t>({1, 3}, {1, -4, 4})
        .input<float>({1, 3}, {10, -3, 6});
    return made;
  };
  scatter("none").check<float>({1, 5}, {1, -3, 3, 4, 6});
  scatter("add").check<float>({1, 5}, {1, 9, 3, 4, 11});
  scatter("mul").check<float>({1, 5}, {1, -60, 3, 4, 30});
  scatter("max").check<float>({1, 5}, {1, 10, 3, 4, 6});
  scatter("min").check<float>({1, 5}, {1, -3, 3, 4, 5});
  BOOST_TEST(scatter("average").refusal(dtype::float32, {1, 5}).find("average")
             != std::string::npos);
  op_case{"Scatter", 9}
      .input<std::int64_t>({3, 2}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({2, 1}, {2, 0})
      .input<std::int64_t>({2, 1}, {50, 10})
      .check<std::int64_t>({3, 2}, {10, 2, 3, 4, 50, 6});
}

BOOST_AUTO_TEST_CASE(slices_are_named_by_tuples) {
  op_case{"GatherND", 13}
      .input<float>({2, 2}, {0, 1, 2, 3})
      .input<std::int64_t>({2, 2}, {0, 0, 1, -1})
      .check<float>({2}, {0, 3});
  op_case{"GatherND", 13}
      .attribute("batch_dims", std::int64_t{1})
      .input<float>({2, 2, 2}, counted(8))
      .input<std::int64_t>({2, 1}, {1, 0})
      .check<float>({2, 2}, {2, 3, 4, 5});
  const auto scatter = [](const char* reduction) {
    op_case made{"ScatterND", 18};
    made.attribute("reduction", std::string{reduction})
        .input<float>({3, 2}, {1, 2, 3, 4, 5, 6})
        .input<std::int64_t>({2, 1}, {2, -1})
        .input<float>({2, 2}, {10, 1, 20, 2});
    return made;
  };
  scatter("none").check<float>({3, 2}, {1, 2, 3, 4, 20, 2});
  scatter("add").check<float>({3, 2}, {1, 2, 3, 4, 35, 9});
  scatter("max").check<float>({3, 2}, {1, 2, 3, 4, 20, 6});
  scatter("min").check<float>({3, 2}, {1, 2, 3, 4, 5, 1});
  scatter("mul").check<float>({3, 2}, {1, 2, 3, 4, 1000, 12});
  const auto error = op_case{"ScatterND", 18}
                         .input<float>({2}, {1, 2})
                         .input<std::int64_t>({1, 1}, {-3})
                         .input<float>({1}, {0})
                         .launch_error(dtype::float32, {2});
  BOOST_TEST(error.find("-3 found") != std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(a_cache_takes_new_entries_where_each_batch_stands) {
  op_case cache{"TensorScatter", 24};
  cache.input<float>({2, 3, 1}, counted(6))
      .input<float>({2, 2, 1}, {10, 11, 12, 13})
      .input<std::int64_t>({2}, {0, 2});
  BOOST_TEST(cache.launch_error(dtype::float32, {2, 3, 1}).find("do not fit") != std::string::npos);
  cache.attribute("mode", std::string{"circular"}).check<float>({2, 3, 1}, {10, 11, 2, 13, 4, 12});
  op_case{"TensorScatter", 24}
      .input<float>({1, 2, 2}, counted(4))
      .input<float>({1, 1, 2}, {8, 9})
      .check<float>({1, 2, 2}, {8, 9, 2, 3});
}

BOOST_AUTO_TEST_CASE(indices_become_one_hot_vectors) {
  op_case{"OneHot", 11}
      .input<std::int64_t>({3}, {0, -1, 7})
      .input<float>({}, {3})
      .input<float>({2}, {2, 5})
      .check<float>({3, 3}, {5, 2, 2, 2, 2, 5, 2, 2, 2});
  op_case{"OneHot", 11}
      .attribute("axis", std::int64_t{0})
      .input<float>({2}, {1, not_a_number})
      .input<std::int64_t>({1}, {2})
      .input<std::int32_t>({2}, {0, 1})
      .check<std::int32_t>({2, 2}, {0, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(sequences_turn_as_far_as_they_are_long) {
  op_case{"ReverseSequence", 10}
      .input<float>({3, 2}, counted(6))
      .input<std::int64_t>({2}, {3, 2})
      .check<float>({3, 2}, {4, 3, 2, 1, 0, 5});
  op_case reverse{"ReverseSequence", 10};
  reverse.attribute("time_axis", std::int64_t{1})
      .attribute("batch_axis", std::int64_t{0})
      .input<float>({2, 3}, counted(6))
      .input<std::int64_t>({2}, {2, 4});
  BOOST_TEST(reverse.launch_error(dtype::float32, {2, 3}).find("4 found") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(depth_and_space_change_places) {
  for (const auto* mode : {"DCR", "CRD"}) {
    const bool depth_first = mode == std::string{"DCR"};
    const floats shuffled = depth_first
                                ? floats{0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15}
                                : floats{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15};
    op_case{"DepthToSpace", 13}
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", std::string{mode})
        .input<float>({1, 8, 1, 2}, counted(16))
        .check<float>({1, 2, 2, 4}, shuffled);
    op_case{"SpaceToDepth", 28}
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", std::string{mode})
        .input<float>({1, 2, 2, 4}, shuffled)
        .check<float>({1, 8, 1, 2}, counted(16));
  }
}

BOOST_AUTO_TEST_CASE(axes_are_cut_and_padded_around_their_centre) {
  op_case{"CenterCropPad", 18}
      .input<float>({2, 5}, counted(10))
      .input<std::int64_t>({2}, {3, 2})
      .check<float>({3, 2}, {1, 2, 6, 7, 0, 0});
}

BOOST_AUTO_TEST_CASE(triangles_are_kept) {
  op_case{"Trilu", 14}
      .input<float>({2, 2, 3}, counted(12))
      .check<float>({2, 2, 3}, {0, 1, 2, 0, 4, 5, 6, 7, 8, 0, 10, 11});
  op_case{"Trilu", 14}
      .attribute("upper", std::int64_t{0})
      .input<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({}, {-1})
      .check<std::int64_t>({2, 3}, {0, 0, 0, 4, 0, 0});
  op_case{"Trilu", 14}
      .input<float>({2, 2}, {1, 2, 3, 4})
      .input<std::int64_t>({}, {std::numeric_limits<std::int64_t>::max()})
      .check<float>({2, 2}, {0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(a_diagonal_of_ones_follows_its_offset) {
  op_case{"EyeLike", 9}
      .attribute("k", std::int64_t{1})
      .input<float>({2, 3}, counted(6))
      .check<std::int32_t>({2, 3}, {0, 1, 0, 0, 0, 1});
  op_case{"EyeLike", 9}
      .attribute("k", std::int64_t{-1})
      .input<float>({3, 1}, counted(3))
      .check<float>({3, 1}, {0, 1, 0});
}

BOOST_AUTO_TEST_CASE(running_sums_and_products_go_both_ways) {
  op_case{"CumSum", 14}
      .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({}, {-1})
      .check<float>({2, 3}, {1, 3, 6, 4, 9, 15});
  op_case{"CumSum", 14}
      .attribute("exclusive", std::int64_t{1})
      .attribute("reverse", std::int64_t{1})
      .input<std::int32_t>({3, 1}, {1, 2, 3})
      .input<std::int32_t>({1}, {0})
      .check<std::int32_t>({3, 1}, {5, 3, 0});
  op_case{"CumProd", 26}
      .input<double>({3, 2}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({}, {0})
      .check<double>({3, 2}, {1, 2, 3, 8, 15, 48});
  // More columns than are run side by side.
  floats sums = counted(200);
  for (std::size_t i = 100; i < 200; ++i)
    sums[i] += sums[i - 100];
  op_case{"CumSum", 14}
      .input<float>({2, 100}, counted(200))
      .input<std::int64_t>({}, {0})
      .check<float>({2, 100}, sums);
  const auto error = op_case{"CumSum", 14}
                         .input<float>({2}, {1, 2})
                         .input<std::int64_t>({}, {1})
                         .launch_error(dtype::float32, {2});
  BOOST_TEST(error.find("axis") != std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(the_best_are_found_with_their_places) {
  op_case{"TopK", 11}
      .input<std::int64_t>({2, 4}, {3, 1, 3, 2, -1, 5, 0, 5})
      .input<std::int64_t>({1}, {3})
      .check_outputs<std::int64_t>({{2, 3}, {2, 3}}, {{3, 3, 2, 5, 5, 0}, {0, 2, 3, 1, 3, 2}});
  op_case{"TopK", 11}
      .attribute("axis", std::int64_t{0})
      .attribute("largest", std::int64_t{0})
      .input<std::int64_t>({3, 2}, {3, 1, 2, 1, 1, 0})
      .input<std::int64_t>({1}, {2})
      .check_outputs<std::int64_t>({{2, 2}, {2, 2}}, {{1, 0, 2, 1}, {2, 2, 1, 0}});
  op_case{"TopK", 1}
      .attribute("k", std::int64_t{1})
      .input<std::int64_t>({3}, {4, 6, 5})
      .check_outputs<std::int64_t>({{1}, {1}}, {{6}, {1}});
  // A small k of a long row, by heap.
  longs row(100);
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<std::int64_t>(i * 37 % 100);
  op_case{"TopK", 11}
      .input<std::int64_t>({100}, row)
      .input<std::int64_t>({1}, {3})
      .check_outputs<std::int64_t>({{3}, {3}}, {{99, 98, 97}, {27, 54, 81}});
  const auto error = op_case{"TopK", 11}
                         .input<float>({3}, {1, 2, 3})
                         .input<std::int64_t>({1}, {2})
                         .launch_error(dtype::float32, {1});
  BOOST_TEST(error.find("2 found") != std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(nan_is_the_greatest_of_all) {
  op_case{"TopK", 11}
      .input<float>({4}, {1, not_a_number, 3, 2})
      .input<std::int64_t>({1}, {2})
      .check<float>({2}, {not_a_number, 3});
}
