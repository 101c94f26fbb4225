#pragma once

// Operators that make their own outputs. A planned kernel (candidate.hpp) writes into memory of a
// size known beforehand; where that size depends on data, where elements are strings, and where
// values are sequences or optionals, a value kernel takes owned values and gives owned values.

#include "kernels/base/result.hpp"
#include "kernels/op/attributes.hpp"
#include "kernels/op/datum.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace troupe::cpu {

/// One call of an operator. Tensors are row-major and in memory the host reads.
struct value_call {
  std::string_view op_type;
  int version = 0; ///< opset version the node was written for
  const attribute_map& attributes;
  std::span<const datum> inputs;        ///< trailing optional ones may be missing altogether
  std::span<const bool> outputs_wanted; ///< one for each output the node names
  /// Element types of the outputs, as far as they follow from attributes and types of inputs.
  std::span<const std::optional<dtype>> output_types;

  [[nodiscard]] bool has(std::size_t input) const noexcept {
    return input < inputs.size() && !std::holds_alternative<std::monostate>(inputs[input]);
  }
  [[nodiscard]] bool wants(std::size_t output) const noexcept {
    return output < outputs_wanted.size() && outputs_wanted[output];
  }
};

/// One value for each wanted output, nothing for the others; no more than `outputs_wanted` has. The
/// caller puts the node's name in front of errors. Any thread.
using value_function = result<std::vector<datum>> (*)(const value_call& of);

/// Which nodes of an operator run as a value kernel.
enum class value_nodes : std::uint8_t {
  all,     ///< the operator has no planned kernel
  strings, ///< those that take or give strings; planned kernels do the rest
};

/// A row of the table of value kernels.
struct value_entry {
  std::string_view domain; ///< "" is ONNX's default domain
  std::string_view op_type;
  value_function run = nullptr;
  value_nodes nodes = value_nodes::all;
};

/// The operator's row, or null. The tables stand in tables/.
[[nodiscard]] const value_entry* value_kernel_for(std::string_view domain,
                                                  std::string_view op_type);

} // namespace troupe::cpu
