// Which operators a batch can pass through: all that have kernels, unless a reason is known.

#include "kernels/cpu/candidate.hpp"
#include "runtime/graph/row_flow.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <string_view>

using namespace troupe;

namespace {

struct without_rule {
  std::string_view op_type;
  std::string_view reason;
};

constexpr std::array exempt{
    without_rule{"AffineGrid", "the number of its rows is also an element of its input `size`"},
    without_rule{"Bernoulli", "a row's numbers come behind those drawn for the rows before it"},
    without_rule{"BlackmanWindow", "its input is a length"},
    without_rule{"Constant", "it has no inputs"},
    without_rule{"ConstantOfShape", "its input is a shape: the proof judges it by its output"},
    without_rule{"EyeLike", "a row of its output follows from where it stands"},
    without_rule{"HammingWindow", "its input is a length"},
    without_rule{"HannWindow", "its input is a length"},
    without_rule{"MaxRoiPool", "its rows are regions, which name images of any row"},
    without_rule{"MaxUnpool", "its indices count from the first image of the batch"},
    without_rule{"MelWeightMatrix", "its inputs are lengths"},
    without_rule{"Multinomial", "a row's numbers come behind those drawn for the rows before it"},
    without_rule{"NegativeLogLikelihoodLoss", "it reduces over the batch"},
    without_rule{"RandomNormal", "it has no inputs"},
    without_rule{"RandomNormalLike", "a row's numbers come behind those of the rows before it"},
    without_rule{"RandomUniform", "it has no inputs"},
    without_rule{"RandomUniformLike", "a row's numbers come behind those of the rows before it"},
    without_rule{"Range", "its inputs are bounds: the proof judges it by its output"},
    without_rule{"RoiAlign", "its rows are regions, which name images of any row"},
    without_rule{"ScatterND", "its indices may name any row"},
    without_rule{"Shape", "the proof follows sizes itself"},
    without_rule{"Size", "the proof follows sizes itself"},
    without_rule{"SoftmaxCrossEntropyLoss", "it reduces over the batch"},
};

bool is_exempt(std::string_view op_type) {
  return std::ranges::find(exempt, op_type, &without_rule::op_type) != exempt.end();
}

} // namespace

BOOST_AUTO_TEST_CASE(every_operator_with_kernels_has_a_rule_for_rows_or_a_reason) {
  for (const auto& [domain, op_type] : cpu::planned_operators()) {
    const bool ruled = graph::has_row_rule(domain, op_type);
    BOOST_TEST(ruled != (domain.empty() && is_exempt(op_type)),
               domain << (domain.empty() ? "" : ".") << op_type
                      << (ruled ? " has a rule and a reason for none" : " has no rule for rows"));
  }
}
