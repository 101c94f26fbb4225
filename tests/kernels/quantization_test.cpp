#include "tests/kernels/op_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using troupe::dtype;
using troupe::tests::op_case;
using bytes = std::vector<std::uint8_t>;
using sbytes = std::vector<std::int8_t>;
using floats = std::vector<float>;

BOOST_AUTO_TEST_CASE(quantising_rounds_ties_to_even_and_saturates) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  op_case{"QuantizeLinear", 13}
      .input<float>({8}, {0, 1, 3, 5, -1, 1000, -1000, infinity})
      .input<float>({}, {2})
      .input<std::uint8_t>({}, {128})
      .check<std::uint8_t>({8}, {128, 128, 130, 130, 128, 255, 0, 255});
  op_case{"QuantizeLinear", 10} // the zero point left out: UINT8 and 0
      .input<float>({2, 2}, {1, 2, -3, 4})
      .input<float>({}, {1})
      .check<std::uint8_t>({2, 2}, {1, 2, 0, 4});
}

BOOST_AUTO_TEST_CASE(a_scale_may_belong_to_an_index_of_an_axis_or_to_a_block) {
  op_case{"QuantizeLinear", 13}
      .attribute("axis", std::int64_t{-2})
      .input<float>({1, 2, 3}, {1, 2, 3, 10, 20, 30})
      .input<float>({2}, {1, 10})
      .input<std::int8_t>({2}, {0, -1})
      .check<std::int8_t>({1, 2, 3}, {1, 2, 3, 0, 1, 2});
  op_case{"QuantizeLinear", 21}
      .attribute("axis", std::int64_t{1})
      .attribute("block_size", std::int64_t{2})
      .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<float>({2, 2}, {1, 3, 2, 6})
      .check<std::uint8_t>({2, 3}, {1, 2, 1, 2, 2, 1});
  op_case{"DequantizeLinear", 21}
      .attribute("axis", std::int64_t{0})
      .attribute("block_size", std::int64_t{2})
      .input<std::int8_t>({3, 2}, {1, 2, 3, 4, 5, 6})
      .input<float>({2, 2}, {1, 10, 2, 20})
      .input<std::int8_t>({2, 2}, {0, 1, 0, 2})
      .check<float>({3, 2}, {1, 10, 3, 30, 10, 80});
}

BOOST_AUTO_TEST_CASE(integers_of_32_bits_are_dequantised_too) {
  op_case{"DequantizeLinear", 13}
      .input<std::int32_t>({2}, {std::numeric_limits<std::int32_t>::min(), 3})
      .input<float>({}, {0.5F})
      .check<float>({2}, {-1073741824.0F, 1.5F});
}

BOOST_AUTO_TEST_CASE(a_scale_that_fits_no_axis_is_refused) {
  const auto text = op_case{"QuantizeLinear", 13}
                        .input<float>({2, 3}, {0, 0, 0, 0, 0, 0})
                        .input<float>({2}, {1, 1})
                        .refusal(dtype::uint8, {2, 3});
  BOOST_TEST(text.find("scale [2]") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(empty_tensors_quantise_to_empty_tensors) {
  op_case{"QuantizeLinear", 13}
      .input<float>({0, 3}, {})
      .input<float>({}, {1})
      .check<std::uint8_t>({0, 3}, {});
  op_case{"DequantizeLinear", 13}
      .attribute("axis", std::int64_t{0})
      .input<std::uint8_t>({2, 0}, {})
      .input<float>({2}, {1, 2})
      .check<float>({2, 0}, {});
}

BOOST_AUTO_TEST_CASE(integer_products_take_a_zero_point_for_each_row_and_column) {
  op_case{"MatMulInteger", 10}
      .input<std::uint8_t>({2, 3}, {11, 7, 3, 10, 6, 2})
      .input<std::int8_t>({3, 2}, {1, 4, 2, 5, 3, 6})
      .input<std::uint8_t>({2}, {12, 10})
      .input<std::int8_t>({2}, {0, 1})
      .check<std::int32_t>({2, 2}, {-38, -68, -32, -56});
  op_case{"MatMulInteger", 10} // stacks, and a vector on the right
      .input<std::int8_t>({2, 1, 2}, {1, -2, 3, -128})
      .input<std::int8_t>({2}, {127, 127})
      .check<std::int32_t>({2, 1}, {-127, -15875});
}

BOOST_AUTO_TEST_CASE(scaled_products_round_once) {
  op_case{"QLinearMatMul", 21}
      .input<std::uint8_t>({1, 2}, {130, 126})
      .input<float>({}, {0.5F})
      .input<std::uint8_t>({}, {128})
      .input<std::int8_t>({2, 3}, {1, 3, 5, 2, 3, 100})
      .input<float>({3}, {1, 2, 0.25F})
      .input<std::int8_t>({3}, {0, 0, 0})
      .input<float>({}, {2})
      .input<std::uint8_t>({}, {100})
      .check<std::uint8_t>({1, 3}, {100, 100, 88});
}

BOOST_AUTO_TEST_CASE(integer_convolutions_pad_with_the_zero_point) {
  op_case{"ConvInteger", 10}
      .attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1})
      .input<std::uint8_t>({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10})
      .input<std::uint8_t>({1, 1, 2, 2}, {1, 1, 1, 1})
      .input<std::uint8_t>({}, {1})
      .check<std::int32_t>({1, 1, 4, 4}, {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9});
  op_case{"ConvInteger", 10} // one axis, strides, groups, a zero point for each channel
      .attribute("strides", std::vector<std::int64_t>{2})
      .attribute("group", std::int64_t{2})
      .input<std::int8_t>({1, 2, 4}, {1, 2, 3, 4, -1, -2, -3, -4})
      .input<std::int8_t>({2, 1, 2}, {1, 2, 3, 4})
      .absent()
      .input<std::int8_t>({2}, {0, 1})
      .check<std::int32_t>({1, 2, 2}, {5, 11, -8, -18});
}

BOOST_AUTO_TEST_CASE(scaled_convolutions_have_a_scale_for_each_channel) {
  op_case{"QLinearConv", 10}
      .input<std::uint8_t>({1, 1, 1, 2}, {12, 20})
      .input<float>({}, {0.5F})
      .input<std::uint8_t>({}, {10})
      .input<std::int8_t>({2, 1, 1, 1}, {3, -5})
      .input<float>({2}, {1, 2})
      .input<std::int8_t>({2}, {0, 0})
      .input<float>({}, {1})
      .input<std::int8_t>({}, {-1})
      .input<std::int32_t>({2}, {1, 0})
      .check<std::int8_t>({1, 2, 1, 2}, {3, 15, -11, -51});
}

BOOST_AUTO_TEST_CASE(products_with_a_constant_weight_are_exact_in_every_candidate) {
  constexpr std::int64_t rows = 5;
  constexpr std::int64_t inner = 67;
  constexpr std::int64_t columns = 35;
  bytes a(rows * inner);
  sbytes b(inner * columns);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<std::uint8_t>(i * 91 % 256);
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<std::int8_t>(static_cast<int>(i * 57 % 256) - 128);
  sbytes zeros(columns);
  for (std::size_t j = 0; j < zeros.size(); ++j)
    zeros[j] = static_cast<std::int8_t>(static_cast<int>(j) - 9);
  std::vector<std::int32_t> expected(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < inner; ++k)
        expected[i * columns + j] += (a[i * inner + k] - 131) * (b[k * columns + j] - zeros[j]);
  op_case{"MatMulInteger", 10}
      .input<std::uint8_t>({rows, inner}, a)
      .input<std::int8_t>({inner, columns}, b, true)
      .input<std::uint8_t>({}, {131})
      .input<std::int8_t>({columns}, zeros)
      .check<std::int32_t>({rows, columns}, expected);
}

BOOST_AUTO_TEST_CASE(one_constant_scale_is_applied_in_every_layout) {
  using troupe::layout;
  constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
  floats x;
  bytes quantised;
  floats back;
  for (int i = 0; i < 2 * 3 * 5 * 7; ++i) { // no whole number of vectors
    x.push_back(static_cast<float>(i - 100) * 0.75F);
    quantised.push_back(
        static_cast<std::uint8_t>(std::clamp(std::nearbyint((i - 100) * 0.375) + 30, 0.0, 255.0)));
    back.push_back(static_cast<float>(quantised.back() - 30) * 2.0F);
  }
  for (const auto format : {layout::row_major, layout::channels_last}) {
    op_case{"QuantizeLinear", 13}
        .in_layout(format, format)
        .input<float>({2, 3, 5, 7}, x)
        .input<float>({}, {2}, true)
        .input<std::uint8_t>({}, {30}, true)
        .check<std::uint8_t>({2, 3, 5, 7}, quantised);
    op_case{"DequantizeLinear", 13}
        .in_layout(format, format)
        .input<std::uint8_t>({2, 3, 5, 7}, quantised)
        .input<float>({}, {2}, true)
        .input<std::uint8_t>({}, {30}, true)
        .check<float>({2, 3, 5, 7}, back);
  }
  op_case{"QuantizeLinear", 13}
      .input<float>({5}, {nothing, 1e30F, -1e30F, 0.5F, 1.5F})
      .input<float>({}, {1}, true)
      .input<std::int8_t>({}, {3}, true)
      .check<std::int8_t>({5}, {-128, 127, -128, 3, 5});
}

BOOST_AUTO_TEST_CASE(quantising_divides_as_exactly_as_the_processor) {
  std::vector<float> x;
  std::vector<std::int8_t> y;
  constexpr float scale = 0.0117F;
  for (int i = -1100; i <= 1100; ++i)
    for (int last = -2; last <= 2; ++last) { // ties, and their neighbours
      auto near = static_cast<float>(i) * 0.5F * scale;
      for (int step = 0; step < std::abs(last); ++step)
        near = std::nextafter(near, last < 0 ? -1e9F : 1e9F);
      x.push_back(near);
      y.push_back(static_cast<std::int8_t>(
          std::clamp(std::nearbyint(near / scale) + 5.0F, -128.0F, 127.0F)));
    }
  const auto count = static_cast<std::int64_t>(x.size());
  op_case{"QuantizeLinear", 13}
      .input<float>({count}, x)
      .input<float>({}, {scale}, true)
      .input<std::int8_t>({}, {5}, true)
      .check<std::int8_t>({count}, y);
}

BOOST_AUTO_TEST_CASE(quantised_sums_round_within_their_bounds) {
  const auto sum = [](std::int64_t lowest) {
    op_case added{"QLinearAdd", 1};
    added.in_domain("troupe").attribute("troupe.lowest_byte", lowest);
    return added;
  };
  bytes a;
  sbytes b;
  bytes y;
  for (int i = 0; i < 75; ++i) {
    a.push_back(static_cast<std::uint8_t>(i * 29 % 256));
    b.push_back(static_cast<std::int8_t>(i * 53 % 256 - 128));
    const auto real = (a.back() - 20) * 0.5 + (b.back() + 4) * 0.25;
    y.push_back(
        static_cast<std::uint8_t>(std::clamp(std::nearbyint(real / 1.03) + 77, 60.0, 255.0)));
  }
  sum(60)
      .input<std::uint8_t>({3, 25}, a)
      .input<float>({}, {0.5F}, true)
      .input<std::uint8_t>({}, {20}, true)
      .input<std::int8_t>({3, 25}, b)
      .input<float>({}, {0.25F}, true)
      .input<std::int8_t>({}, {-4}, true)
      .input<float>({}, {1.03F}, true)
      .input<std::uint8_t>({}, {77}, true)
      .check<std::uint8_t>({3, 25}, y);
}

BOOST_AUTO_TEST_CASE(quantised_products_of_a_layer_take_weights_by_columns) {
  op_case{"QLinearGemm", 1}
      .in_domain("troupe")
      .input<std::uint8_t>({2, 3}, {10, 11, 12, 13, 9, 8})
      .input<float>({}, {0.5F}, true)
      .input<std::uint8_t>({}, {10}, true)
      .input<std::int8_t>({2, 3}, {1, 2, 3, -4, -5, -6}, true)
      .input<float>({2}, {2, 4}, true)
      .input<std::int8_t>({}, {0}, true)
      .input<float>({}, {1}, true)
      .input<std::uint8_t>({}, {100}, true)
      .input<std::int32_t>({2}, {5, -7}, true)
      .check<std::uint8_t>({2, 2}, {113, 52, 100, 96});
}
