#pragma once

#include "kernels/cpu/candidate.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace troupe::cpu {

/// A row of the table: the kernels of one operator, fastest first, its reference kernel last.
struct operator_entry {
  std::string_view domain; ///< "" is ONNX's default domain
  std::string_view op_type;
  std::span<const candidate> candidates;
  std::size_t least_inputs = 1; ///< of the operator's own that must be present
};

/// The families that candidate_table.cpp joins; an operator stands in one of them.
[[nodiscard]] std::span<const operator_entry> elementwise_operators();
[[nodiscard]] std::span<const operator_entry> compute_operators();
[[nodiscard]] std::span<const operator_entry> movement_operators();
[[nodiscard]] std::span<const operator_entry> network_operators();
[[nodiscard]] std::span<const operator_entry> quantization_operators();
[[nodiscard]] std::span<const operator_entry> machine_learning_operators();
[[nodiscard]] std::span<const operator_entry> contrib_operators();
[[nodiscard]] std::span<const operator_entry> indexing_operators();
[[nodiscard]] std::span<const operator_entry> vision_operators();
[[nodiscard]] std::span<const operator_entry> random_operators();

} // namespace troupe::cpu
