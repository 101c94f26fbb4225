// Element-wise operators of every kind of number, and those on bits.

#include "tests/kernels/op_case.hpp"

#include <limits>

using troupe::dtype;
using troupe::half;
using troupe::tests::op_case;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

std::vector<half> halves(std::initializer_list<float> values) {
  std::vector<half> made;
  for (float value : values)
    made.push_back(half{value});
  return made;
}

} // namespace

BOOST_AUTO_TEST_CASE(unary_operators_take_doubles_and_integers_where_they_are_defined) {
  op_case{"Sign", 13}.input<std::int64_t>({3}, {-7, 0, 9}).check<std::int64_t>({3}, {-1, 0, 1});
  op_case{"Abs", 13}
      .input<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::min() + 1, 4})
      .check<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::max(), 4});
  op_case{"Shrink", 9}
      .attribute("lambd", 1.5F)
      .attribute("bias", 1.0F)
      .input<double>({3}, {-2, 1, 3})
      .check<double>({3}, {-1, 0, 2});
  op_case{"Acosh", 22}.input<double>({1}, {1}).check<double>({1}, {0});
  BOOST_TEST(
      op_case("Exp", 13).input<std::int32_t>({1}, {1}).refusal(dtype::int32, {1}).find("INT32")
      != std::string::npos);
}

BOOST_AUTO_TEST_CASE(activations_with_parameters_default_as_their_definitions_say) {
  op_case{"ThresholdedRelu", 22}.input<float>({3}, {0.5F, 1, 2}).check<float>({3}, {0, 0, 2});
  op_case{"Celu", 12}
      .attribute("alpha", 2.0F)
      .input<float>({2}, {-2, 3})
      .check<float>({2}, {2 * std::expm1(-1.0F), 3}, 1e-6);
  op_case{"Selu", 22}
      .input<float>({2}, {0, 1})
      .check<float>({2}, {0, 1.05070102214813232421875F}, 1e-6);
  op_case{"Swish", 24}
      .attribute("alpha", 0.0F)
      .input<float>({2}, {2, -4})
      .check<float>({2}, {1, -2}, 1e-6);
}

BOOST_AUTO_TEST_CASE(infinities_and_not_a_number_are_told) {
  const std::vector<float> values{-infinity, infinity, nan_value, 1};
  op_case{"IsInf", 20}.input<float>({4}, values).check_truth({4}, {1, 1, 0, 0});
  op_case{"IsInf", 10}
      .attribute("detect_negative", std::int64_t{0})
      .input<float>({4}, values)
      .check_truth({4}, {0, 1, 0, 0});
  op_case{"IsNaN", 13}.input<float>({4}, values).check_truth({4}, {0, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(not_a_number_wins_in_max_and_min) {
  op_case{"Max", 13}
      .input<double>({2}, {1, std::nan("")})
      .input<double>({2}, {std::nan(""), 1})
      .check<double>({2}, {std::nan(""), std::nan("")});
}

BOOST_AUTO_TEST_CASE(a_mean_divides_by_the_number_of_inputs) {
  op_case{"Mean", 13}
      .input<double>({2}, {1, 2})
      .input<double>({1}, {4})
      .input<double>({}, {4})
      .check<double>({2}, {3, 10.0 / 3}, 1e-12);
}

BOOST_AUTO_TEST_CASE(integer_powers_are_exact) {
  op_case{"Pow", 15}
      .input<std::int64_t>({3}, {3, -1, 2})
      .input<std::int64_t>({3}, {39, -3, -1})
      .check<std::int64_t>({3}, {4052555153018976267, -1, 0});
  op_case{"Pow", 15}
      .input<std::int32_t>({1}, {9})
      .input<float>({1}, {0.5F})
      .check<std::int32_t>({1}, {3});
}

BOOST_AUTO_TEST_CASE(the_largest_unsigned_number_divides_as_any_other) {
  op_case{"Mod", 13}
      .input<std::uint8_t>({2}, {7, 255})
      .input<std::uint8_t>({}, {255})
      .check<std::uint8_t>({2}, {7, 0});
}

BOOST_AUTO_TEST_CASE(floored_remainders_of_floats_have_the_sign_of_the_divisor) {
  op_case{"Mod", 28}
      .input<float>({4}, {-4.5F, 4.5F, 1, -1})
      .input<float>({4}, {2, -2, infinity, infinity})
      .check<float>({4}, {1.5F, -1.5F, 1, infinity});
}

BOOST_AUTO_TEST_CASE(shifts_beyond_all_bits_leave_the_sign) {
  op_case{"BitShift", 28}
      .attribute("direction", std::string{"RIGHT"})
      .input<std::int32_t>({3}, {-8, -8, 8})
      .input<std::int32_t>({3}, {1, 40, -1})
      .check<std::int32_t>({3}, {-4, -1, 0});
  op_case{"BitShift", 11}
      .attribute("direction", std::string{"LEFT"})
      .input<std::uint8_t>({2}, {129, 1})
      .input<std::uint8_t>({2}, {1, 8})
      .check<std::uint8_t>({2}, {2, 0});
  op_case{"BitwiseNot", 18}.input<std::int8_t>({2}, {0, 5}).check<std::int8_t>({2}, {-1, -6});
  BOOST_TEST(op_case("BitwiseAnd", 18)
                 .input<float>({1}, {1})
                 .input<float>({1}, {1})
                 .refusal(dtype::float32, {1})
                 .find("integers")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_once_where_they_are_stored) {
  // 2048 + 0.75 + 0.75 is 2049.5, whose nearest half is 2050; rounded after each step it were 2048.
  op_case{"Sum", 13}
      .input<half>({1}, halves({2048}))
      .input<half>({1}, halves({0.75F}))
      .input<half>({1}, halves({0.75F}))
      .check<half>({1}, halves({2050}));
}

BOOST_AUTO_TEST_CASE(a_gate_multiplies_its_value) {
  op_case{"SwiGLU", 28}
      .attribute("alpha", 0.0F)
      .input<float>({2}, {2, 4})
      .input<float>({2}, {3, -1})
      .check<float>({2}, {3, -2}, 1e-6);
}

BOOST_AUTO_TEST_CASE(bits_become_another_type_of_their_size) {
  op_case{"BitCast", 26}
      .attribute("to", std::int64_t{6})
      .input<float>({2}, {1, -0.0F})
      .check<std::int32_t>({2}, {0x3f800000, std::numeric_limits<std::int32_t>::min()});
}
