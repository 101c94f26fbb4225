// Sums over indices, determinants, transforms, windows, losses and normalisations.

#include "kernels/op/einsum.hpp"
#include "tests/kernels/op_case.hpp"

#include <cmath>
#include <numbers>

using troupe::dtype;
using troupe::parse_einsum;
using troupe::tests::op_case;
using longs = std::vector<std::int64_t>;

BOOST_AUTO_TEST_CASE(einsum_multiplies_transposes_and_walks_diagonals) {
  const std::vector<float> matrix{1, 2, 3, 4};
  op_case{"Einsum", 12}
      .attribute("equation", std::string{"ij, jk -> ik"})
      .input<float>({2, 2}, matrix)
      .input<float>({2, 2}, matrix)
      .check<float>({2, 2}, {7, 10, 15, 22});
  op_case{"Einsum", 12}
      .attribute("equation", std::string{"ba"})
      .input<float>({2, 2}, matrix)
      .check<float>({2, 2}, {1, 3, 2, 4});
  op_case{"Einsum", 12}
      .attribute("equation", std::string{"...ii->...i"})
      .input<std::int32_t>({1, 2, 2}, {1, 2, 3, 4})
      .check<std::int32_t>({1, 2}, {1, 4});
  op_case{"Einsum", 12}
      .attribute("equation", std::string{"ii"})
      .input<double>({2, 2}, {1, 2, 3, 4})
      .check<double>({}, {5});
}

BOOST_AUTO_TEST_CASE(equations_that_are_none_say_why) {
  const std::size_t two[]{2, 2};
  for (const auto* wrong : {"ij", "ij,jk,kl", "ij,j->i", "ij,jk->iz", "ij,jk->ii", "i1,jk"})
    BOOST_TEST(!parse_einsum(wrong, two).has_value(), wrong);
  BOOST_TEST(parse_einsum("ij,jk->ik", two).has_value());
}

BOOST_AUTO_TEST_CASE(determinants_need_square_matrices) {
  op_case{"Det", 22}
      .input<double>({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})
      .check<double>({2}, {-6, 0}, 1e-12);
  BOOST_TEST(
      op_case("Det", 22).input<float>({1, 2}, {1, 2}).refusal(dtype::float32, {}).find("square")
      != std::string::npos);
}

BOOST_AUTO_TEST_CASE(transforms_of_lengths_that_are_prime_and_that_are_not) {
  // A single impulse has a flat spectrum; a constant has one line.
  for (std::int64_t length : {1, 2, 6, 7, 12}) {
    std::vector<float> impulse(static_cast<std::size_t>(length), 0.0F);
    impulse[0] = 1;
    std::vector<float> flat;
    std::vector<float> line;
    for (std::int64_t k = 0; k < length; ++k) {
      flat.insert(flat.end(), {1, 0});
      line.insert(line.end(), {k == 0 ? static_cast<float>(length) : 0.0F, 0});
    }
    op_case{"DFT", 20}
        .input<float>({1, length, 1}, impulse)
        .check<float>({1, length, 2}, flat, 1e-6);
    op_case{"DFT", 20}
        .input<float>({1, length, 1}, std::vector<float>(static_cast<std::size_t>(length), 1.0F))
        .check<float>({1, length, 2}, line, 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(half_a_spectrum_comes_back_as_the_signal) {
  op_case{"DFT", 17}
      .attribute("onesided", std::int64_t{1})
      .input<float>({1, 4, 1}, {1, 2, 3, 5})
      .check<float>({1, 3, 2}, {11, 0, -2, 3, -3, 0}, 1e-6);
  op_case{"DFT", 20}
      .attribute("onesided", std::int64_t{1})
      .attribute("inverse", std::int64_t{1})
      .input<float>({1, 3, 2}, {11, 0, -2, 3, -3, 0})
      .check<float>({1, 4, 1}, {1, 2, 3, 5}, 1e-6);
}

BOOST_AUTO_TEST_CASE(frames_of_a_signal_are_weighed_before_they_are_transformed) {
  op_case{"STFT", 17}
      .input<float>({1, 4, 1}, {1, 2, 3, 4})
      .input<std::int64_t>({}, {2}, true)
      .input<float>({2}, {1, 0.5F})
      .check<float>({1, 2, 2, 2}, {2, 0, 0, 0, 5, 0, 1, 0}, 1e-6);
}

BOOST_AUTO_TEST_CASE(windows_are_periodic_or_symmetric) {
  op_case{"HannWindow", 17}.input<std::int64_t>({}, {4}).check<float>({4}, {0, 0.5F, 1, 0.5F},
                                                                      1e-6);
  op_case{"HannWindow", 17}
      .attribute("periodic", std::int64_t{0})
      .input<std::int64_t>({}, {3})
      .check<float>({3}, {0, 1, 0}, 1e-6);
  op_case{"BlackmanWindow", 17}
      .attribute("periodic", std::int64_t{0})
      .input<std::int64_t>({}, {1})
      .check<float>({1}, {1}, 1e-6);
}

BOOST_AUTO_TEST_CASE(losses_leave_out_what_is_ignored) {
  const auto node = [](const char* reduction, std::int64_t last) {
    op_case made{"NegativeLogLikelihoodLoss", 22};
    made.attribute("reduction", std::string{reduction})
        .attribute("ignore_index", std::int64_t{-1})
        .input<float>({3, 2}, {-1, -2, -3, -4, -5, -6})
        .input<std::int64_t>({3}, {0, -1, last});
    return made;
  };
  node("none", 1).check<float>({3}, {1, 0, 6});
  node("sum", 1).check<float>({}, {7});
  node("mean", 1).check<float>({}, {3.5F});
  BOOST_TEST(node("mean", 2).launch_error(dtype::float32, {}).find("[0, 2) expected, 2 found")
             != std::string::npos);
  op_case{"SoftmaxCrossEntropyLoss", 13}
      .input<float>({1, 2}, {3, 3})
      .input<std::int64_t>({1}, {1})
      .check<float>({}, {std::numbers::ln2_v<float>}, 1e-6);
}

BOOST_AUTO_TEST_CASE(groups_of_channels_are_normalised_image_by_image) {
  const std::vector<float> values{1, 3, 2, 6};
  // Before opset 21 the parameters are those of groups.
  op_case{"GroupNormalization", 18}
      .attribute("num_groups", std::int64_t{1})
      .attribute("epsilon", 0.0F)
      .input<float>({2, 2, 1}, values)
      .input<float>({1}, {2})
      .input<float>({1}, {1})
      .check<float>({2, 2, 1}, {-1, 3, -1, 3}, 1e-6);
  op_case{"GroupNormalization", 21}
      .attribute("num_groups", std::int64_t{1})
      .attribute("epsilon", 0.0F)
      .input<float>({2, 2, 1}, values)
      .input<float>({2}, {2, 1})
      .input<float>({2}, {1, 0})
      .check<float>({2, 2, 1}, {-1, 1, -1, 1}, 1e-6);
  op_case{"InstanceNormalization", 22}
      .attribute("epsilon", 0.0F)
      .input<double>({1, 2, 2}, {1, 3, 2, 6})
      .input<double>({2}, {1, 1})
      .input<double>({2}, {0, 10})
      .check<double>({1, 2, 2}, {-1, 1, 9, 11}, 1e-9);
}

BOOST_AUTO_TEST_CASE(batch_statistics_move_the_running_ones_in_training) {
  op_case{"BatchNormalization", 15}
      .attribute("training_mode", std::int64_t{1})
      .attribute("momentum", 0.5F)
      .attribute("epsilon", 0.0F)
      .input<float>({2, 1}, {1, 3})
      .input<float>({1}, {1})
      .input<float>({1}, {0})
      .input<float>({1}, {0})
      .input<float>({1}, {3})
      .check_outputs<float>({{2, 1}, {1}, {1}}, {{-1, 1}, {1}, {2}}, 1e-6);
}

BOOST_AUTO_TEST_CASE(normalisations_without_parameters) {
  op_case{"LpNormalization", 22}
      .input<float>({2, 2}, {3, 4, 0, 0})
      .check<float>({2, 2}, {0.6F, 0.8F, 0, 0}, 1e-6);
  op_case{"RMSNormalization", 23}
      .attribute("epsilon", 0.0F)
      .input<float>({2}, {1, -1})
      .input<float>({1}, {2})
      .check<float>({2}, {2, -2}, 1e-6);
  op_case{"MeanVarianceNormalization", 13}
      .input<float>({2, 1, 1, 1}, {1, 3})
      .check<float>({2, 1, 1, 1}, {-1, 1}, 1e-6);
  op_case{"LRN", 13}
      .attribute("size", std::int64_t{3})
      .attribute("alpha", 3.0F)
      .attribute("beta", 1.0F)
      .input<float>({1, 2, 1}, {1, 2})
      .check<float>({1, 2, 1}, {1.0F / 6, 2.0F / 6}, 1e-6);
}

BOOST_AUTO_TEST_CASE(reductions_of_integers_are_exact_and_of_nothing_defined) {
  op_case{"ReduceSum", 13}
      .input<std::int64_t>({2}, {std::int64_t{1} << 60, 1})
      .check<std::int64_t>({1}, {(std::int64_t{1} << 60) + 1});
  op_case{"ReduceL1", 18}.input<std::int32_t>({3}, {-1, 2, -3}).check<std::int32_t>({1}, {6});
  op_case{"ReduceLogSumExp", 18}
      .input<double>({2}, {1000, 1000})
      .check<double>({1}, {1000 + std::numbers::ln2}, 1e-9);
  op_case{"ReduceMax", 20}.truth({3}, {0, 1, 0}).check_truth({1}, {1});
  op_case{"ReduceMin", 20}
      .attribute("axes", longs{0})
      .input<float>({0}, {})
      .check<float>({1}, {HUGE_VALF});
  op_case{"Hardmax", 13}.input<float>({3}, {1, 5, 5}).check<float>({3}, {0, 1, 0});
}

BOOST_AUTO_TEST_CASE(products_of_integers_and_doubles) {
  op_case{"MatMul", 13}
      .input<std::int32_t>({2}, {1 << 30, 1})
      .input<std::int32_t>({2}, {4, 5})
      .check<std::int32_t>({}, {5});
  op_case{"Gemm", 13}
      .attribute("alpha", 0.5F)
      .attribute("transB", std::int64_t{1})
      .input<double>({1, 2}, {2, 4})
      .input<double>({1, 2}, {1, 1})
      .input<double>({}, {10})
      .check<double>({1, 1}, {13});
  op_case{"Gemm", 13}
      .input<std::int64_t>({1, 1}, {std::int64_t{1} << 53})
      .input<std::int64_t>({1, 1}, {1})
      .input<std::int64_t>({1}, {1})
      .check<std::int64_t>({1, 1}, {(std::int64_t{1} << 53) + 1});
}
