#include "kernels/cpu/random/generator.hpp"
#include "tests/kernels/op_case.hpp"

#include <cmath>

using troupe::attribute_map;
using troupe::dtype;
using troupe::cpu::random_source;
using troupe::cpu::random_stream;
using troupe::tests::op_case;

BOOST_AUTO_TEST_CASE(uniform_and_normal_numbers_have_their_moments) {
  const random_stream stream{42};
  constexpr std::uint64_t count = 100000;
  double uniform = 0, normal = 0, square = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto u = stream.uniform(i);
    BOOST_REQUIRE(u >= 0 && u < 1);
    uniform += u;
    const auto n = stream.normal(i);
    normal += n;
    square += n * n;
  }
  BOOST_TEST(std::abs(uniform / count - 0.5) < 0.005);
  BOOST_TEST(std::abs(normal / count) < 0.02);
  BOOST_TEST(std::abs(square / count - 1) < 0.02);
}

BOOST_AUTO_TEST_CASE(a_seed_repeats_and_none_does_not) {
  attribute_map seeded;
  seeded.set("seed", 3.0F);
  const random_source with{seeded};
  BOOST_TEST(with.next().uniform(7) == with.next().uniform(7));
  const attribute_map none;
  const random_source without{none};
  BOOST_TEST(without.next().uniform(7) != without.next().uniform(7));
}

BOOST_AUTO_TEST_CASE(certain_events_happen_and_impossible_ones_do_not) {
  op_case{"Bernoulli", 15}.input<float>({4}, {0, 1, 0, 1}).check<float>({4}, {0, 1, 0, 1});
  constexpr float never = -1000;
  op_case{"Multinomial", 7}
      .input<float>({2, 3}, {never, 0, never, never, never, 5})
      .check<std::int32_t>({2, 4}, {1, 1, 1, 1, 2, 2, 2, 2});
  op_case{"RandomUniform", 1}
      .attribute("low", 2.0F)
      .attribute("high", 2.0F)
      .check<float>({2, 2}, {2, 2, 2, 2});
  op_case{"RandomNormal", 1}
      .attribute("mean", -1.0F)
      .attribute("scale", 0.0F)
      .check<double>({3}, {-1, -1, -1});
}

BOOST_AUTO_TEST_CASE(dropout_drops_where_it_trains_and_scales_what_it_keeps) {
  attribute_map seeded;
  seeded.set("seed", std::int64_t{5});
  const auto stream = random_source{seeded}.next();
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> dropped;
  for (std::uint64_t i = 0; i < values.size(); ++i)
    dropped.push_back(stream.uniform(i) >= 0.75 ? 4 * values[i] : 0);
  const auto training = [&](float ratio, std::uint8_t mode) {
    op_case made{"Dropout", 13};
    made.attribute("seed", std::int64_t{5})
        .input<float>({8}, values)
        .input<float>({}, {ratio})
        .truth({}, {mode});
    return made;
  };
  training(0.75F, 1).check<float>({8}, dropped);
  training(0.75F, 0).check<float>({8}, values);
  training(0, 1).check<float>({8}, values);
  BOOST_TEST(training(1, 1).launch_error(dtype::float32, {8}).find("[0, 1) expected, 1 found")
             != std::string::npos);
}
