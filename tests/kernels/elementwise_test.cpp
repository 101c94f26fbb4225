#include "kernels/cpu/elementwise/step.hpp"
#include "kernels/cpu/post_ops.hpp"
#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

using namespace troupe;
using namespace troupe::cpu;
using troupe::tests::check_candidates;
using troupe::tests::kernel_case;

namespace {

double exact_gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

double exact_gelu_tanh(double x) {
  const double z = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * z));
}

struct step_case {
  step what;
  std::function<double(double)> exact;
  float from;
  float to;
  double relative;
  double absolute = 0;
};

kernel_case unary(std::string op, shape dims, layout format = layout::row_major) {
  return {.op_type = std::move(op),
          .attributes = {},
          .inputs = {dims},
          .constant = {false},
          .output = dims,
          .format = format};
}

kernel_case binary(std::string op, shape a, shape b, shape output,
                   layout format = layout::row_major) {
  return {.op_type = std::move(op),
          .attributes = {},
          .inputs = {a, b},
          .constant = {false, false},
          .output = output,
          .format = format};
}

const std::vector<std::pair<shape, std::vector<shape>>> broadcasts{
    {{2, 5, 7, 3},
     {{2, 5, 7, 3},
      {1},
      {},
      {5, 1, 1},
      {1, 5, 1, 1},
      {2, 5, 1, 1},
      {3},
      {7, 1},
      {1, 1, 7, 3},
      {2, 1, 1, 1}}},
    {{1, 40, 31, 17}, {{1, 40, 31, 17}, {1, 40, 1, 1}, {40, 1, 1}}},
    {{3, 16, 1, 1}, {{3, 16, 1, 1}, {16, 1, 1}, {1, 1, 1, 1}}},
    {{4, 12, 9, 9}, {{4, 1, 1, 9}, {4, 12, 9, 1}}},
    {{2, 3, 33}, {{33}, {2, 3, 1}, {3, 33}}},
    {{0, 4, 2, 2}, {{4, 1, 1}, {0, 4, 2, 2}}},
    {{}, {{}}},
    {{5000}, {{1}, {5000}}},
};

} // namespace

BOOST_AUTO_TEST_CASE(every_vector_step_agrees_with_its_formula) {
  const std::vector<step_case> cases{
      {{step_kind::exp}, [](double x) { return std::exp(x); }, -87, 88, 1e-6},
      {{step_kind::log}, [](double x) { return std::log(x); }, 1e-30F, 1e6F, 1e-6, 1e-7},
      {{step_kind::sigmoid}, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 1e-6},
      {{step_kind::tanh}, [](double x) { return std::tanh(x); }, -12, 12, 2e-6},
      {{step_kind::erf}, [](double x) { return std::erf(x); }, -6, 6, 1e-6},
      {{step_kind::gelu_erf}, exact_gelu, -6, 10, 1e-6, 1e-6},
      {{step_kind::gelu_tanh}, exact_gelu_tanh, -6, 10, 2e-6, 1e-6},
      {{step_kind::silu}, [](double x) { return x / (1 + std::exp(-x)); }, -80, 80, 1e-6},
      {{step_kind::elu, 1.5F},
       [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; },
       -20,
       20,
       1e-6},
      {{step_kind::sqrt}, [](double x) { return std::sqrt(x); }, 0, 1e6F, 1e-6},
      {{step_kind::square}, [](double x) { return x * x; }, -50, 50, 1e-6},
      {{step_kind::reciprocal}, [](double x) { return 1 / x; }, 0.01F, 50, 1e-6},
      {{step_kind::floor}, [](double x) { return std::floor(x); }, -50, 50, 0},
      {{step_kind::ceil}, [](double x) { return std::ceil(x); }, -50, 50, 0},
      {{step_kind::round}, [](double x) { return std::nearbyint(x); }, -50, 50, 0},
      {{step_kind::leaky_relu, 0.25F}, [](double x) { return x < 0 ? 0.25 * x : x; }, -9, 9, 0},
      {{step_kind::clip, -1.5F, 2.0F}, [](double x) { return std::clamp(x, -1.5, 2.0); }, -9, 9, 0},
      {{step_kind::linear, 0.5F, 0.25F},
       [](double x) { return 0.5 * x + 0.25; },
       -9,
       9,
       1e-6,
       1e-7},
      {{step_kind::hard_sigmoid, 0.25F, 0.5F},
       [](double x) { return std::clamp(0.25 * x + 0.5, 0.0, 1.0); },
       -9,
       9,
       1e-6,
       1e-7},
      {{step_kind::hard_swish, 0.25F, 0.5F},
       [](double x) { return x * std::clamp(0.25 * x + 0.5, 0.0, 1.0); },
       -9,
       9,
       1e-6,
       1e-6},
  };
  constexpr std::size_t count = 10007;
  for (const auto& tried : cases) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i)
      x[i] = tried.from + (tried.to - tried.from) * static_cast<float>(i) / (count - 1);
    std::vector<float> y(count);
    run_step(tried.what, x.data(), nullptr, false, y.data(), count);
    double worst = 0;
    float worst_at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double exact = tried.exact(static_cast<double>(x[i]));
      const double error = std::abs(static_cast<double>(y[i]) - exact);
      const double allowed = tried.relative * std::abs(exact) + tried.absolute + 1e-38;
      if (!(error / allowed <= worst)) {
        worst = error / allowed;
        worst_at = x[i];
      }
    }
    BOOST_TEST(worst <= 1.0, "step " << static_cast<int>(tried.what.kind) << " on "
                                     << vector_target() << ": " << worst
                                     << " times the tolerance at " << worst_at);
  }
}

BOOST_AUTO_TEST_CASE(vector_steps_keep_nan_and_infinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto of = [](step what, float x) {
    float y = 0;
    run_step(what, &x, nullptr, false, &y, 1);
    return y;
  };
  for (const auto kind : {step_kind::relu, step_kind::clip, step_kind::sigmoid, step_kind::tanh,
                          step_kind::exp, step_kind::log, step_kind::erf, step_kind::hard_swish})
    BOOST_TEST(std::isnan(of({kind, 0.5F, 1.0F}, nan)), "step " << static_cast<int>(kind));
  BOOST_TEST(of({step_kind::exp}, infinity) == infinity);
  BOOST_TEST(of({step_kind::exp}, -infinity) == 0.0F);
  BOOST_TEST(of({step_kind::log}, 0.0F) == -infinity);
  BOOST_TEST(std::isnan(of({step_kind::log}, -1.0F)));
  BOOST_TEST(of({step_kind::sigmoid}, infinity) == 1.0F);
  BOOST_TEST(of({step_kind::tanh}, -infinity) == -1.0F);
  BOOST_TEST(of({step_kind::erf}, infinity) == 1.0F);
}

BOOST_AUTO_TEST_CASE(post_op_definitions_and_vector_steps_agree) {
  const auto x = tests::random_values(997, 3);
  for (int kind = 0; kind <= static_cast<int>(post_op_kind::multiply); ++kind) {
    const post_op fused{static_cast<post_op_kind>(kind), 0.3F, 0.6F, 0};
    std::vector<float> y(x.size());
    const float operand = 0.75F;
    run_step(step_of(fused), x.data(), &operand, true, y.data(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST(std::abs(y[i] - apply_post_op(fused, x[i], operand)) <= 1e-6F,
                 "post-op " << kind << " at " << x[i]);
  }
}

BOOST_AUTO_TEST_CASE(unary_operators_agree_in_every_shape_and_layout) {
  for (const auto* op : {"Relu", "LeakyRelu", "Elu", "Sigmoid", "HardSigmoid", "HardSwish", "Gelu",
                         "Erf", "Exp", "Tanh", "Neg", "Abs", "Floor", "Ceil", "Round"}) {
    for (const auto& dims :
         {shape{1}, shape{}, shape{0, 3}, shape{31}, shape{2, 3, 5, 7}, shape{3, 70001}})
      check_candidates(unary(op, dims), "highway");
    check_candidates(unary(op, {2, 13, 5, 7}, layout::channels_last), "highway");
  }
}

BOOST_AUTO_TEST_CASE(binary_operators_agree_on_every_broadcast) {
  for (const auto* op : {"Add", "Sub", "Mul", "Min", "Max"})
    for (const auto& [output, others] : broadcasts)
      for (const auto& other : others) {
        check_candidates(binary(op, output, other, output), "highway");
        check_candidates(binary(op, other, output, output), "highway");
      }
}

BOOST_AUTO_TEST_CASE(two_operands_may_both_be_repeated) {
  check_candidates(binary("Mul", {4, 1, 7}, {1, 5, 1}, {4, 5, 7}), "highway");
  check_candidates(binary("Sub", {300, 1}, {1, 500}, {300, 500}), "highway");
}

BOOST_AUTO_TEST_CASE(binary_operators_agree_in_channels_last) {
  for (const auto* op : {"Add", "Sub", "Mul"})
    for (const auto& dims : {shape{2, 5, 7, 3}, shape{1, 96, 20, 20}, shape{2, 300, 3, 3}}) {
      const shape per_channel{dims[1], 1, 1};
      const shape gate{dims[0], dims[1], 1, 1};
      check_candidates(binary(op, dims, dims, dims, layout::channels_last), "highway");
      check_candidates(binary(op, dims, per_channel, dims, layout::channels_last), "highway");
      check_candidates(binary(op, dims, gate, dims, layout::channels_last), "highway");
      check_candidates(binary(op, dims, {1}, dims, layout::channels_last), "highway");
    }
}

BOOST_AUTO_TEST_CASE(post_ops_follow_in_the_same_pass) {
  for (const auto format : {layout::row_major, layout::channels_last}) {
    auto node = binary("Add", {2, 19, 6, 5}, {19, 1, 1}, {2, 19, 6, 5}, format);
    node.inputs.push_back({2, 19, 1, 1});
    node.inputs.push_back({2, 19, 6, 5});
    node.constant = {false, true, false, false};
    node.post_ops = {{post_op_kind::hard_swish, 1.0F / 6, 0.5F, 0},
                     {post_op_kind::multiply, 0, 0, 2},
                     {post_op_kind::add, 0, 0, 3},
                     {post_op_kind::relu, 0, 0, 0}};
    check_candidates(node, "highway");
  }
}

BOOST_AUTO_TEST_CASE(work_divides_over_a_team) {
  auto node = binary("Add", {3, 24, 61, 59}, {3, 24, 1, 1}, {3, 24, 61, 59});
  node.threads = 2;
  node.post_ops = {{post_op_kind::sigmoid, 0, 0, 0}};
  check_candidates(node, "highway");
  node.format = layout::channels_last;
  check_candidates(node, "highway");
}

BOOST_AUTO_TEST_CASE(a_clip_without_bounds_is_not_confused_by_a_post_op_operand) {
  kernel_case node = unary("Clip", {2, 9});
  node.inputs.push_back({2, 9});
  node.constant.push_back(true);
  node.post_ops = {{post_op_kind::add, 0, 0, 1}};
  check_candidates(node, "highway");
}
