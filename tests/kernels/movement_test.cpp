#include "kernels/tensor/half.hpp"
#include "tests/kernels/op_case.hpp"

using troupe::dtype;
using troupe::layout;
using troupe::shape;
using troupe::tests::counted;
using troupe::tests::op_case;
using longs = std::vector<std::int64_t>;

namespace {

// The transpose of a row-major tensor, by its definition.
std::vector<float> transposed(const shape& dims, const longs& order) {
  const auto strides = troupe::row_major_strides(dims);
  std::vector<float> values;
  const auto visit = [&](const auto& self, std::size_t axis, std::int64_t offset) -> void {
    if (axis == order.size()) {
      values.push_back(static_cast<float>(offset));
      return;
    }
    const auto from = static_cast<std::size_t>(order[axis]);
    for (std::int64_t i = 0; i < dims[from]; ++i)
      self(self, axis + 1, offset + i * strides[from]);
  };
  visit(visit, 0, 0);
  return values;
}

} // namespace

BOOST_AUTO_TEST_CASE(transposes_follow_the_permutation) {
  const std::vector<std::pair<shape, longs>> cases{{{2, 3}, {1, 0}},
                                                   {{5, 70}, {1, 0}},
                                                   {{2, 3, 4}, {2, 0, 1}},
                                                   {{2, 17, 33}, {0, 2, 1}},
                                                   {{2, 3, 4, 5}, {0, 2, 1, 3}},
                                                   {{2, 19, 5, 7}, {0, 2, 3, 1}},
                                                   {{2, 5, 7, 19}, {0, 3, 1, 2}},
                                                   {{3, 1, 4}, {1, 2, 0}},
                                                   {{0, 3}, {1, 0}},
                                                   {{40, 33, 2}, {1, 0, 2}},
                                                   {{4, 3, 2, 5, 6}, {4, 2, 0, 1, 3}}};
  for (const auto& [dims, order] : cases) {
    shape output;
    for (const auto axis : order)
      output.push_back(dims[static_cast<std::size_t>(axis)]);
    op_case{"Transpose", 13}
        .attribute("perm", order)
        .input<float>(dims, counted(troupe::element_count(dims)))
        .check<float>(output, transposed(dims, order));
  }
  op_case{"Transpose", 13}
      .input<float>({2, 3}, counted(6))
      .check<float>({3, 2}, {0, 3, 1, 4, 2, 5});
  op_case{"Transpose", 13}
      .input<std::uint8_t>({2, 2}, {1, 2, 3, 4})
      .check<std::uint8_t>({2, 2}, {1, 3, 2, 4});
}

BOOST_AUTO_TEST_CASE(a_reorder_keeps_every_element_in_its_place) {
  for (const auto& dims : {shape{2, 3, 5, 7}, shape{1, 64, 20, 33}, shape{2, 19, 11},
                           shape{1, 1, 4, 4}, shape{0, 3, 2, 2}}) {
    const auto values = counted(troupe::element_count(dims));
    op_case{"Reorder", 1}
        .in_domain("troupe")
        .in_layout(layout::row_major, layout::channels_last)
        .input<float>(dims, values)
        .check<float>(dims, values);
    op_case{"Reorder", 1}
        .in_domain("troupe")
        .in_layout(layout::channels_last, layout::row_major)
        .input<float>(dims, values)
        .check<float>(dims, values);
  }
}

BOOST_AUTO_TEST_CASE(concatenation_and_split_undo_each_other) {
  op_case{"Concat", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({2, 1}, {1, 2})
      .input<float>({2, 2}, {3, 4, 5, 6})
      .input<float>({2, 0}, {})
      .check<float>({2, 3}, {1, 3, 4, 2, 5, 6});
  op_case{"Concat", 13}
      .attribute("axis", std::int64_t{-1})
      .input<std::int64_t>({1}, {7})
      .input<std::int64_t>({2}, {8, 9})
      .check<std::int64_t>({3}, {7, 8, 9});
  op_case{"Split", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .check_outputs<float>({{2, 1}, {2, 2}}, {{1, 4}, {2, 3, 5, 6}});
}

BOOST_AUTO_TEST_CASE(concatenation_along_channels_works_in_channels_last) {
  // One input: the layout of the others follows only in a real plan, so it is concatenated with
  // itself.
  op_case{"Concat", 13}
      .attribute("axis", std::int64_t{1})
      .in_layout(layout::channels_last, layout::channels_last)
      .input<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})
      .check<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
}

BOOST_AUTO_TEST_CASE(slices_take_bounds_from_attributes_and_inputs) {
  op_case{"Slice", 1}
      .attribute("starts", longs{1})
      .attribute("ends", longs{-1})
      .attribute("axes", longs{1})
      .input<float>({2, 4}, counted(8))
      .check<float>({2, 2}, {1, 2, 5, 6});
  for (const bool constant : {true, false}) {
    op_case{"Slice", 13}
        .input<float>({2, 4}, counted(8))
        .input<std::int64_t>({2}, {0, 3}, constant)
        .input<std::int64_t>({2}, {1, INT64_MIN}, constant)
        .absent()
        .input<std::int64_t>({2}, {1, -2}, constant)
        .check<float>({1, 2}, {3, 1});
    op_case{"Slice", 13}
        .input<std::int64_t>({4}, {1, 3, 48, 320})
        .input<std::int64_t>({1}, {-2}, constant)
        .input<std::int64_t>({1}, {INT64_MAX}, constant)
        .input<std::int64_t>({1}, {0}, constant)
        .check<std::int64_t>({2}, {48, 320});
    op_case{"Slice", 13}
        .input<float>({3}, {1, 2, 3})
        .input<std::int64_t>({1}, {5}, constant)
        .input<std::int64_t>({1}, {9}, constant)
        .check<float>({0}, {});
  }
}

BOOST_AUTO_TEST_CASE(gathering_counts_negative_indices_from_the_end) {
  op_case{"Gather", 13}
      .input<float>({3, 2}, counted(6))
      .input<std::int64_t>({2}, {2, -3})
      .check<float>({2, 2}, {4, 5, 0, 1});
  op_case{"Gather", 13}
      .attribute("axis", std::int64_t{1})
      .input<float>({2, 3}, counted(6))
      .input<std::int32_t>({}, {1})
      .check<float>({2}, {1, 4});
  const auto text = op_case{"Gather", 13}
                        .input<float>({3}, counted(3))
                        .input<std::int64_t>({1}, {3})
                        .launch_error(dtype::float32, {1});
  BOOST_TEST(text.find("3 found") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(expansion_and_tiling_repeat) {
  op_case{"Expand", 13}
      .input<float>({2, 1}, {1, 2})
      .input<std::int64_t>({2}, {2, 3})
      .check<float>({2, 3}, {1, 1, 1, 2, 2, 2});
  op_case{"Expand", 13}
      .input<float>({3}, {1, 2, 3})
      .input<std::int64_t>({2}, {2, 1})
      .check<float>({2, 3}, {1, 2, 3, 1, 2, 3});
  op_case{"Tile", 13}
      .input<float>({1, 2}, {1, 2})
      .input<std::int64_t>({2}, {2, 2})
      .check<float>({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
}

BOOST_AUTO_TEST_CASE(padding_has_every_mode) {
  const std::vector<float> row{1, 2, 3};
  const auto padded = [&](const char* mode) {
    return op_case{"Pad", 13}
        .attribute("mode", std::string{mode})
        .input<float>({3}, row)
        .input<std::int64_t>({2}, {2, 1}, true);
  };
  padded("constant").input<float>({}, {9}).check<float>({6}, {9, 9, 1, 2, 3, 9});
  padded("constant").check<float>({6}, {0, 0, 1, 2, 3, 0});
  padded("edge").check<float>({6}, {1, 1, 1, 2, 3, 3});
  padded("reflect").check<float>({6}, {3, 2, 1, 2, 3, 2});
  op_case{"Pad", 2}
      .attribute("pads", longs{0, 1, 0, -1})
      .attribute("value", 5.0F)
      .input<float>({1, 3}, row)
      .check<float>({1, 3}, {5, 1, 2});
}

BOOST_AUTO_TEST_CASE(shapes_constants_and_ranges_become_tensors) {
  op_case{"Shape", 15}.input<float>({2, 3, 4}, counted(24)).check<std::int64_t>({3}, {2, 3, 4});
  op_case{"Shape", 15}
      .attribute("start", std::int64_t{-2})
      .input<float>({2, 3, 4}, counted(24))
      .check<std::int64_t>({2}, {3, 4});
  op_case{"Size", 13}.input<float>({2, 3}, counted(6)).check<std::int64_t>({}, {6});
  op_case{"Constant", 13}.attribute("value_ints", longs{4, 5}).check<std::int64_t>({2}, {4, 5});
  op_case{"ConstantOfShape", 9}.input<std::int64_t>({1}, {3}).check<float>({3}, {0, 0, 0});
  op_case{"Range", 11}
      .input<std::int64_t>({}, {3})
      .input<std::int64_t>({}, {9})
      .input<std::int64_t>({}, {3})
      .check<std::int64_t>({2}, {3, 6});
}

BOOST_AUTO_TEST_CASE(reshaping_hands_the_bytes_on) {
  op_case{"Reshape", 13}
      .input<float>({2, 3}, counted(6))
      .input<std::int64_t>({1}, {-1})
      .check<float>({6}, counted(6));
  op_case{"Flatten", 13}.input<std::int64_t>({1, 2}, {1, 2}).check<std::int64_t>({1, 2}, {1, 2});
  op_case{"Unsqueeze", 11}.attribute("axes", longs{0}).input<float>({}, {4}).check<float>({1}, {4});
}

BOOST_AUTO_TEST_CASE(dropout_passes_through_where_it_does_not_train) {
  op_case{"Dropout", 13}.input<float>({2}, {1, 2}).check<float>({2}, {1, 2});
  op_case{"Dropout", 7}
      .input<float>({2}, {1, 2})
      .check_outputs<float>({{2}, {2}}, {{1, 2}, {1, 1}}); // the mask is of the data's type
}

BOOST_AUTO_TEST_CASE(nearest_resizing_by_whole_factors) {
  const std::vector<float> twice{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};
  for (const auto format : {layout::row_major, layout::channels_last}) {
    op_case{"Resize", 13}
        .attribute("coordinate_transformation_mode", std::string{"asymmetric"})
        .attribute("nearest_mode", std::string{"floor"})
        .in_layout(format, format)
        .input<float>({1, 1, 2, 2}, counted(4))
        .absent()
        .input<float>({4}, {1, 1, 2, 2}, true)
        .check<float>({1, 1, 4, 4}, twice);
    op_case{"Resize", 10}
        .in_layout(format, format)
        .input<float>({1, 1, 2, 2}, counted(4))
        .input<float>({4}, {1, 1, 2, 2}, true)
        .check<float>({1, 1, 4, 4}, twice);
    op_case{"Resize", 13}
        .in_layout(format, format)
        .input<float>({1, 2, 2, 1}, counted(4))
        .absent()
        .absent()
        .input<std::int64_t>({4}, {1, 2, 3, 1}, true)
        .check<float>({1, 2, 3, 1}, {0, 0, 1, 2, 2, 3});
  }
}

BOOST_AUTO_TEST_CASE(linear_resizing_in_its_coordinate_modes) {
  const auto doubled = [](const char* mode, const std::vector<float>& expected) {
    op_case{"Resize", 13}
        .attribute("mode", std::string{"linear"})
        .attribute("coordinate_transformation_mode", std::string{mode})
        .input<float>({1, 1, 1, 2}, {0, 4})
        .absent()
        .input<float>({4}, {1, 1, 1, 2}, true)
        .check<float>({1, 1, 1, 4}, expected, 1e-6);
  };
  doubled("half_pixel", {0, 1, 3, 4});
  doubled("asymmetric", {0, 2, 4, 4});
  doubled("align_corners", {0, 4.0F / 3, 8.0F / 3, 4});
  doubled("pytorch_half_pixel", {0, 1, 3, 4});
}
