// Pooling, convolution and interpolation beyond what the fast candidates take: other types, other
// ranks, positions, crops.

#include "kernels/tensor/half.hpp"
#include "tests/kernels/op_case.hpp"

#include <numeric>

using troupe::dtype;
using troupe::half;
using troupe::layout;
using troupe::shape;
using troupe::tests::op_case;
using longs = std::vector<std::int64_t>;

namespace {

template <class T>
std::vector<T> counted(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

op_case max_pool(longs kernel) {
  op_case made{"MaxPool", 22};
  made.attribute("kernel_shape", std::move(kernel));
  return made;
}

} // namespace

BOOST_AUTO_TEST_CASE(maxima_are_taken_of_whole_numbers_and_of_any_rank) {
  max_pool({2, 2})
      .input<std::uint8_t>({1, 1, 3, 3}, {9, 1, 2, 3, 255, 4, 5, 6, 7})
      .check<std::uint8_t>({1, 1, 2, 2}, {255, 255, 255, 255});
  max_pool({2})
      .input<std::int8_t>({1, 2, 3}, {-3, -2, -1, -4, -128, -128})
      .check<std::int8_t>({1, 2, 2}, {-2, -1, -4, -128});
  max_pool({2, 1, 2})
      .input<double>({1, 1, 2, 2, 2}, counted<double>(8))
      .check<double>({1, 1, 1, 2, 1}, {5, 7});
  max_pool({2, 2})
      .attribute("dilations", longs{2, 1})
      .input<float>({1, 1, 3, 3}, counted<float>(9))
      .check<float>({1, 1, 1, 2}, {7, 8});
}

BOOST_AUTO_TEST_CASE(maxima_tell_where_they_were) {
  const auto pool = [](std::int64_t order) {
    return max_pool({2, 2})
        .attribute("strides", longs{2, 2})
        .attribute("storage_order", order)
        .input<std::int64_t>({1, 2, 2, 4}, {1, 5, 2, 3, 4, 0, 9, 9, 7, 1, 1, 1, 1, 1, 1, 2});
  };
  // Output 1 is INT64, as the input here is.
  op_case{pool(0)}.check_outputs<std::int64_t>({{1, 2, 1, 2}, {1, 2, 1, 2}},
                                               {{5, 9, 7, 2}, {1, 6, 8, 15}});
  op_case{pool(1)}.check_outputs<std::int64_t>({{1, 2, 1, 2}, {1, 2, 1, 2}},
                                               {{5, 9, 7, 2}, {2, 5, 8, 15}});
}

BOOST_AUTO_TEST_CASE(norms_are_taken_of_windows_and_of_everything) {
  op_case{"LpPool", 22}
      .attribute("kernel_shape", longs{2})
      .attribute("p", std::int64_t{2})
      .attribute("pads", longs{1, 0})
      .input<float>({1, 1, 3}, {3, -4, 0})
      .check<float>({1, 1, 3}, {3, 5, 4}, 1e-6);
  op_case{"GlobalLpPool", 22}
      .attribute("p", std::int64_t{1})
      .input<double>({1, 2, 1, 1, 1, 2}, {1, -2, 3, -4})
      .check<double>({1, 2, 1, 1, 1, 1}, {3, 7}, 1e-12);
  op_case{"GlobalAveragePool", 22}
      .in_layout(layout::channels_last, layout::channels_last)
      .input<float>({1, 2, 1, 2}, {1, 3, 10, 20})
      .check<float>({1, 2, 1, 1}, {2, 15}, 1e-6);
}

BOOST_AUTO_TEST_CASE(averages_count_the_padding_when_asked_to) {
  for (const std::int64_t counts : {0, 1})
    op_case{"AveragePool", 19}
        .attribute("kernel_shape", longs{2})
        .attribute("strides", longs{2})
        .attribute("pads", longs{1, 0})
        .attribute("ceil_mode", std::int64_t{1})
        .attribute("count_include_pad", counts)
        .input<double>({1, 1, 4}, {4, 6, 8, 2})
        .check<double>({1, 1, 3}, {counts != 0 ? 2.0 : 4.0, 7, 2});
}

BOOST_AUTO_TEST_CASE(convolutions_of_other_types_follow_the_definition) {
  op_case{"Conv", 22}
      .attribute("group", std::int64_t{2})
      .input<double>({1, 2, 3}, {1, 2, 3, 4, 5, 6})
      .input<double>({2, 1, 2}, {1, 1, 1, -1})
      .input<double>({2}, {0.5, 0})
      .check<double>({1, 2, 2}, {3.5, 5.5, -1, -1});
  const auto halves = [](std::initializer_list<float> values) {
    std::vector<half> made;
    for (const auto value : values)
      made.emplace_back(value);
    return made;
  };
  op_case{"Conv", 22}
      .input<half>({1, 1, 1, 1, 3}, halves({1, 2, 3}))
      .input<half>({1, 1, 1, 1, 2}, halves({0.5F, 2}))
      .check<half>({1, 1, 1, 1, 2}, halves({4.5F, 7}));
  op_case{"Conv", 22}
      .input<float>({1, 1, 2, 2, 2}, counted<float>(8))
      .input<float>({1, 1, 2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 2})
      .check<float>({1, 1, 1, 1, 1}, {14});
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_reach_the_shape_asked_for) {
  op_case{"ConvTranspose", 22}
      .attribute("strides", longs{2})
      .attribute("output_shape", longs{5})
      .input<double>({1, 1, 2}, {1, 2})
      .input<double>({1, 1, 3}, {1, 10, 100})
      .check<double>({1, 1, 5}, {1, 10, 102, 20, 200});
  op_case{"ConvTranspose", 22}
      .attribute("group", std::int64_t{2})
      .input<double>({1, 2, 1}, {1, 2})
      .input<double>({2, 1, 2}, {3, 4, 5, 6})
      .check<double>({1, 2, 2}, {3, 4, 10, 12});
}

BOOST_AUTO_TEST_CASE(images_are_interpolated_in_both_layouts) {
  const std::vector<float> larger{1,    1.25F, 1.75F, 2,    1.5F, 1.75F, 2.25F, 2.5F,
                                  2.5F, 2.75F, 3.25F, 3.5F, 3,    3.25F, 3.75F, 4};
  for (const auto format : {layout::row_major, layout::channels_last}) {
    op_case{"Resize", 19}
        .attribute("mode", std::string{"linear"})
        .in_layout(format, format)
        .input<float>({1, 1, 2, 2}, {1, 2, 3, 4})
        .absent()
        .input<float>({4}, {1, 1, 2, 2}, true)
        .check<float>({1, 1, 4, 4}, larger, 1e-6);
    // Two channels, cubic: a constant stays one, whatever the weights.
    op_case{"Resize", 19}
        .attribute("mode", std::string{"cubic"})
        .attribute("antialias", std::int64_t{1})
        .in_layout(format, format)
        .input<float>({1, 2, 4, 1}, {7, 7, 7, 7, -2, -2, -2, -2})
        .absent()
        .absent()
        .input<std::int64_t>({4}, {1, 2, 2, 3}, true)
        .check<float>({1, 2, 2, 3}, {7, 7, 7, 7, 7, 7, -2, -2, -2, -2, -2, -2}, 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(interpolated_whole_numbers_are_cut_off_and_crops_are_filled) {
  op_case{"Resize", 19}
      .attribute("mode", std::string{"linear"})
      .attribute("coordinate_transformation_mode", std::string{"align_corners"})
      .input<std::uint8_t>({2}, {0, 255})
      .absent()
      .absent()
      .input<std::int64_t>({1}, {3}, true)
      .check<std::uint8_t>({3}, {0, 127, 255});
  op_case{"Resize", 19}
      .attribute("coordinate_transformation_mode", std::string{"tf_crop_and_resize"})
      .attribute("extrapolation_value", 9.0F)
      .input<float>({3}, {1, 2, 3})
      .input<float>({2}, {0, 2}, true)
      .absent()
      .input<std::int64_t>({1}, {3}, true)
      .check<float>({3}, {1, 3, 9});
  op_case{"Resize", 19} // nearest moves any type
      .input<std::int64_t>({2}, {5, 6})
      .absent()
      .input<float>({1}, {2}, true)
      .check<std::int64_t>({4}, {5, 5, 6, 6});
}

BOOST_AUTO_TEST_CASE(padding_fills_rows_of_any_element) {
  op_case{"Pad", 19}
      .attribute("mode", std::string{"wrap"})
      .input<std::uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({4}, {1, 2, 0, -1}, true)
      .check<std::uint8_t>({3, 4}, {5, 6, 4, 5, 2, 3, 1, 2, 5, 6, 4, 5});
  op_case{"Pad", 2}
      .attribute("pads", longs{0, 1})
      .attribute("value", 1.5F)
      .input<double>({1}, {4})
      .check<double>({2}, {4, 1.5});
}
