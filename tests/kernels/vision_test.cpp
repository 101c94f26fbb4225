#include "tests/kernels/op_case.hpp"

#include <limits>

using troupe::dtype;
using troupe::shape;
using troupe::tests::counted;
using troupe::tests::op_case;
using longs = std::vector<std::int64_t>;
using floats = std::vector<float>;

namespace {

op_case sampled(const char* mode, const char* padding, floats grid) {
  const auto places = static_cast<std::int64_t>(grid.size() / 2);
  op_case made{"GridSample", 20};
  made.attribute("mode", std::string{mode})
      .attribute("padding_mode", std::string{padding})
      .attribute("align_corners", std::int64_t{1})
      .input<float>({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40})
      .input<float>({1, 1, places, 2}, grid);
  return made;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_grid_is_sampled_in_every_mode) {
  const floats inside{-1, -1, 0, 0, 1, 0};
  sampled("linear", "zeros", inside).check<float>({1, 2, 1, 3}, {1, 2.5, 3, 10, 25, 30}, 1e-6);
  sampled("nearest", "zeros", {1, -1}).check<float>({1, 2, 1, 1}, {2, 20});
  const floats outside{3, -1};
  sampled("linear", "zeros", outside).check<float>({1, 2, 1, 1}, {0, 0});
  sampled("linear", "border", outside).check<float>({1, 2, 1, 1}, {2, 20});
  sampled("linear", "reflection", outside).check<float>({1, 2, 1, 1}, {1, 10}, 1e-6);
  sampled("cubic", "border", {-1, 1}).check<float>({1, 2, 1, 1}, {3, 30}, 1e-5);
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  sampled("linear", "zeros", {infinity, std::numeric_limits<float>::quiet_NaN()})
      .check<float>({1, 2, 1, 1}, {0, 0});
}

BOOST_AUTO_TEST_CASE(a_grid_may_have_three_axes) {
  op_case{"GridSample", 20}
      .input<float>({1, 1, 2, 2, 2}, counted(8))
      .input<float>({1, 1, 1, 1, 3}, {0, 0, 0})
      .check<float>({1, 1, 1, 1, 1}, {3.5}, 1e-6);
}

BOOST_AUTO_TEST_CASE(the_identity_map_gives_the_regular_grid) {
  for (const std::int64_t aligned : {0, 1}) {
    const float edge = aligned != 0 ? 1.0F : 0.5F;
    op_case{"AffineGrid", 20}
        .attribute("align_corners", aligned)
        .input<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0})
        .input<std::int64_t>({4}, {1, 1, 1, 2}, true)
        .check<float>({1, 1, 2, 2}, {-edge, 0, edge, 0}, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(regions_are_averaged_between_elements) {
  const auto align = [](floats region, std::int64_t image) {
    op_case made{"RoiAlign", 16};
    made.attribute("output_height", std::int64_t{1})
        .attribute("output_width", std::int64_t{1})
        .attribute("sampling_ratio", std::int64_t{1})
        .input<float>({1, 1, 3, 3}, counted(9))
        .input<float>({1, 4}, region)
        .input<std::int64_t>({1}, {image});
    return made;
  };
  align({1, 1, 2, 2}, 0).check<float>({1, 1, 1, 1}, {4}, 1e-6);
  BOOST_TEST(align({1, 1, 2, 2}, 1).launch_error(dtype::float32, {1, 1, 1, 1}).find("1 found")
             != std::string::npos);
  op_case huge{"RoiAlign", 16};
  huge.input<float>({1, 1, 3, 3}, counted(9))
      .input<float>({1, 4}, {0, 0, 1e30F, 1})
      .input<std::int64_t>({1}, {0});
  BOOST_TEST(huge.launch_error(dtype::float32, {1, 1, 1, 1}).find("samples") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(regions_are_cut_into_bins) {
  op_case{"MaxRoiPool", 1}
      .attribute("pooled_shape", longs{1, 2})
      .input<float>({1, 1, 2, 4}, counted(8))
      .input<float>({1, 5}, {0, 0, 0, 3, 1})
      .check<float>({1, 1, 1, 2}, {5, 7});
}

BOOST_AUTO_TEST_CASE(maxima_go_back_where_they_were) {
  const auto unpool = [](std::int64_t place) {
    op_case made{"MaxUnpool", 11};
    made.attribute("kernel_shape", longs{2})
        .attribute("strides", longs{2})
        .input<float>({1, 1, 2}, {8, 9})
        .input<std::int64_t>({1, 1, 2}, {1, place});
    return made;
  };
  unpool(2).check<float>({1, 1, 4}, {0, 8, 9, 0});
  BOOST_TEST(unpool(4).launch_error(dtype::float32, {1, 1, 4}).find("4 found")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(overlapping_blocks_add_up) {
  op_case{"Col2Im", 18}
      .input<float>({1, 2, 2}, {1, 2, 3, 4})
      .input<std::int64_t>({1}, {3}, true)
      .input<std::int64_t>({1}, {2}, true)
      .check<float>({1, 1, 3}, {1, 5, 4});
}

BOOST_AUTO_TEST_CASE(offsets_move_the_taps_of_a_convolution) {
  const auto deformed = [](float down, float right) {
    op_case made{"DeformConv", 19};
    made.input<float>({1, 1, 2, 2}, {1, 2, 3, 4})
        .input<float>({1, 1, 1, 1}, {10})
        .input<float>({1, 2, 2, 2}, {down, 0, 0, 0, right, 0, 0, 0})
        .input<float>({1}, {1})
        .input<float>({1, 1, 2, 2}, {1, 1, 1, 0.5});
    return made;
  };
  deformed(0, 0).check<float>({1, 1, 2, 2}, {11, 21, 31, 21});
  deformed(0.5F, 1).check<float>({1, 1, 2, 2}, {31, 21, 31, 21});
  deformed(std::numeric_limits<float>::infinity(), 0).check<float>({1, 1, 2, 2}, {1, 21, 31, 21});
}
