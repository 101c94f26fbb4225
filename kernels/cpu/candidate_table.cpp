// The one place that says which kernels exist, in the order they are tried. An operator's fast
// candidates come first and its reference kernel last.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array identity{candidate{"reference", make_reference_identity}};

struct operator_entry {
  std::string_view domain;
  std::string_view op_type;
  std::span<const candidate> candidates;
};

constexpr std::array operators{
    operator_entry{"", "Identity", identity}, operator_entry{"", "Reshape", identity},
    operator_entry{"", "Squeeze", identity},  operator_entry{"", "Unsqueeze", identity},
    operator_entry{"", "Flatten", identity},  operator_entry{"", "Dropout", identity},
};

} // namespace

std::span<const candidate> candidates_for(std::string_view domain, std::string_view op_type) {
  const auto* known = std::ranges::find_if(operators, [&](const operator_entry& entry) {
    return entry.domain == domain && entry.op_type == op_type;
  });
  return known == operators.end() ? std::span<const candidate>{} : known->candidates;
}

} // namespace troupe::cpu
