#include "tests/kernels/op_case.hpp"

#include <limits>

using troupe::dtype;
using troupe::tests::op_case;
using floats = std::vector<float>;
using longs = std::vector<std::int64_t>;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

} // namespace

BOOST_AUTO_TEST_CASE(addition_broadcasts_both_ways) {
  op_case{"Add", 14}
      .input<float>({2, 1}, {1, 2})
      .input<float>({3}, {10, 20, 30})
      .check<float>({2, 3}, {11, 21, 31, 12, 22, 32});
  op_case{"Sub", 14}
      .input<float>({3}, {1, 2, 3})
      .input<float>({2, 1}, {10, 20})
      .check<float>({2, 3}, {-9, -8, -7, -19, -18, -17});
  op_case{"Div", 14}
      .input<float>({}, {6})
      .input<float>({3}, {1, 2, 4})
      .check<float>({3}, {6, 3, 1.5F});
  op_case{"Mul", 14}.input<float>({0, 3}, {}).input<float>({3}, {1, 2, 3}).check<float>({0, 3}, {});
}

BOOST_AUTO_TEST_CASE(integer_arithmetic_wraps_and_truncates) {
  op_case{"Add", 14}
      .input<std::int64_t>({2}, {5, -3})
      .input<std::int64_t>({}, {2})
      .check<std::int64_t>({2}, {7, -1});
  op_case{"Mul", 14}
      .input<std::int32_t>({2}, {1 << 30, 3})
      .input<std::int32_t>({1}, {4})
      .check<std::int32_t>({2}, {0, 12});
  op_case{"Div", 14}
      .input<std::int64_t>({4}, {7, -7, 5, std::numeric_limits<std::int64_t>::min()})
      .input<std::int64_t>({4}, {2, 2, 0, -1})
      .check<std::int64_t>({4}, {3, -3, 0, std::numeric_limits<std::int64_t>::min()});
  op_case{"Mod", 13}
      .input<std::int32_t>({4}, {7, -7, 7, -7})
      .input<std::int32_t>({4}, {3, 3, -3, -3})
      .check<std::int32_t>({4}, {1, 2, -2, -1});
}

BOOST_AUTO_TEST_CASE(powers_by_constants_and_by_tensors) {
  op_case{"Pow", 15}
      .input<float>({3}, {-2, 0, 3})
      .input<float>({}, {2}, true)
      .check<float>({3}, {4, 0, 9});
  op_case{"Pow", 15}
      .input<float>({2}, {4, 9})
      .input<float>({1}, {0.5F}, true)
      .check<float>({2}, {2, 3});
  op_case{"Pow", 15}
      .input<float>({2}, {2, 3})
      .input<float>({2}, {3, 2})
      .check<float>({2}, {8, 9}, 1e-6);
}

BOOST_AUTO_TEST_CASE(a_power_takes_an_exponent_of_another_type) {
  op_case{"Pow", 15}
      .input<float>({3}, {1, 2, 3})
      .input<std::int64_t>({3}, {4, 5, 2})
      .check<float>({3}, {1, 32, 9});
  op_case{"Pow", 15}
      .input<std::int32_t>({2}, {2, 9})
      .input<float>({}, {0.5F})
      .check<std::int32_t>({2}, {1, 3});
}

BOOST_AUTO_TEST_CASE(a_remainder_may_keep_the_sign_of_the_dividend) {
  op_case{"Mod", 13}
      .attribute("fmod", std::int64_t{1})
      .input<std::int64_t>({4}, {7, -7, 7, -7})
      .input<std::int64_t>({4}, {3, 3, -3, -3})
      .check<std::int64_t>({4}, {1, -1, 1, -1});
}

BOOST_AUTO_TEST_CASE(minimum_and_maximum_take_any_number_of_inputs) {
  op_case{"Max", 13}
      .input<float>({2}, {1, 5})
      .input<float>({1}, {3})
      .input<float>({2}, {2, 9})
      .check<float>({2}, {3, 9});
  op_case{"Min", 13}.input<float>({2}, {1, 5}).check<float>({2}, {1, 5});
  op_case{"Sum", 13}
      .input<float>({2}, {1, 5})
      .input<float>({2}, {1, 1})
      .input<float>({1}, {2})
      .check<float>({2}, {4, 8});
}

BOOST_AUTO_TEST_CASE(comparisons_and_logic_answer_bool) {
  op_case{"Equal", 13}
      .input<std::int64_t>({3}, {1, 2, 3})
      .input<std::int64_t>({1}, {2})
      .check_truth({3}, {0, 1, 0});
  op_case{"Less", 13}.input<float>({2}, {1, 3}).input<float>({2}, {2, 2}).check_truth({2}, {1, 0});
  op_case{"GreaterOrEqual", 16}
      .input<float>({2}, {2, 1})
      .input<float>({2}, {2, 2})
      .check_truth({2}, {1, 0});
  op_case{"And", 7}.truth({3}, {1, 1, 0}).truth({1}, {1}).check_truth({3}, {1, 1, 0});
  op_case{"Xor", 7}.truth({2}, {1, 0}).truth({2}, {1, 1}).check_truth({2}, {0, 1});
  op_case{"Not", 1}.truth({2}, {1, 0}).check_truth({2}, {0, 1});
}

BOOST_AUTO_TEST_CASE(where_picks_by_a_broadcast_condition) {
  op_case{"Where", 16}
      .truth({2, 1}, {1, 0})
      .input<float>({2}, {1, 2})
      .input<float>({1, 1}, {-1})
      .check<float>({2, 2}, {1, 2, -1, -1});
}

BOOST_AUTO_TEST_CASE(activations_have_the_operators_defaults) {
  op_case{"LeakyRelu", 16}.input<float>({2}, {-1, 2}).check<float>({2}, {-0.01F, 2}, 1e-7);
  op_case{"HardSigmoid", 6}.input<float>({3}, {-4, 0, 1}).check<float>({3}, {0, 0.5F, 0.7F}, 1e-6);
  op_case{"HardSwish", 14}.input<float>({3}, {-4, 3, 1}).check<float>({3}, {0, 3, 4.0F / 6}, 1e-6);
  op_case{"Gelu", 20}.input<float>({2}, {1, -1}).check<float>({2}, {0.8413447F, -0.1586553F}, 1e-6);
  op_case{"Gelu", 20}
      .attribute("approximate", std::string{"tanh"})
      .input<float>({1}, {1})
      .check<float>({1}, {0.841192F}, 1e-6);
  op_case{"Softplus", 1}.input<float>({2}, {0, 200}).check<float>({2}, {0.6931472F, 200}, 1e-6);
  op_case{"Relu", 14}.input<std::int64_t>({2}, {-5, 7}).check<std::int64_t>({2}, {0, 7});
  op_case{"Neg", 13}.input<std::int32_t>({2}, {-5, 7}).check<std::int32_t>({2}, {5, -7});
}

BOOST_AUTO_TEST_CASE(clip_reads_bounds_from_attributes_or_inputs) {
  op_case{"Clip", 6}
      .attribute("min", -1.0F)
      .attribute("max", 1.0F)
      .input<float>({3}, {-3, 0.5F, 3})
      .check<float>({3}, {-1, 0.5F, 1});
  op_case{"Clip", 13}
      .input<float>({3}, {-3, 0.5F, 3})
      .absent()
      .input<float>({}, {1}, true)
      .check<float>({3}, {-3, 0.5F, 1});
  op_case{"Clip", 13}.input<float>({2}, {-3, 3}).input<float>({}, {0}).check<float>({2}, {0, 3});
  op_case{"Clip", 13}
      .input<std::int64_t>({2}, {-3, 3})
      .input<std::int64_t>({}, {0})
      .check<std::int64_t>({2}, {0, 3});
  op_case{"Clip", 13}
      .input<float>({2}, {-infinity, infinity})
      .check<float>({2}, {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()});
}

BOOST_AUTO_TEST_CASE(casts_convert_every_way) {
  op_case{"Cast", 13}
      .input<float>({4}, {1.9F, -1.9F, 3e9F, NAN})
      .check<std::int32_t>({4}, {1, -1, std::numeric_limits<std::int32_t>::max(), 0});
  op_case{"Cast", 13}.input<std::int64_t>({2}, {3, -1}).check<float>({2}, {3, -1});
  op_case{"Cast", 13}.input<float>({3}, {0, 0.5F, NAN}).check_truth({3}, {0, 1, 1});
  op_case{"Cast", 13}.truth({2}, {1, 0}).check<std::int64_t>({2}, {1, 0});
  op_case{"Cast", 13}.input<double>({1}, {1e300}).check<float>({1}, {infinity});
}

BOOST_AUTO_TEST_CASE(a_datatype_that_a_kernel_lacks_is_declined_with_a_reason) {
  const auto text = op_case{"Exp", 13}.input<std::int64_t>({2}, {1, 2}).refusal(dtype::int64, {2});
  BOOST_TEST(text.find("INT64") != std::string::npos, text);
  BOOST_TEST(text.find("Exp") != std::string::npos, text);
}
