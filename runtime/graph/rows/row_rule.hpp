#pragma once

#include "runtime/graph/infer.hpp"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::graph {

/// What is proved of a value.
struct row_state {
  enum class kind : std::uint8_t {
    shared, ///< the same whatever the rows hold and however many there are
    sizes,  ///< its elements may depend on the number of rows, on nothing else of them
    /// Axis `axis` has the rows: slice i follows from row i of the inputs and what is shared. Or it
    /// has the rows joined with the axes behind them, `size` being a multiple of their number: then
    /// row i is the i-th of equal runs of slices.
    rows,
  };
  kind what = kind::shared;
  std::size_t axis = 0;
  dim size{}; ///< of the axis

  [[nodiscard]] bool is_shared() const noexcept { return what == kind::shared; }
  [[nodiscard]] bool has_rows() const noexcept { return what == kind::rows; }
};

/// The axis of the rows in a node's outputs, or why there is none.
using row_axis = tl::expected<std::size_t, std::string>;

[[nodiscard]] inline tl::unexpected<std::string> rows_mix(std::string why) {
  return tl::unexpected<std::string>{std::move(why)};
}

/// A node of which at least one input has rows.
struct row_step {
  const node& of;
  std::span<const fact> inputs; ///< of the operator itself
  std::span<const row_state> states;
  const fact& output; ///< the first
  dim rows;           ///< the symbol of their number
  graph& symbols;

  [[nodiscard]] bool has(std::size_t input) const {
    return input < inputs.size() && inputs[input].present;
  }
  /// Null where not even the rank is known.
  [[nodiscard]] const symbolic_shape* dims(std::size_t input) const {
    return has(input) && inputs[input].dims ? &*inputs[input].dims : nullptr;
  }
  [[nodiscard]] std::size_t rank(std::size_t input) const {
    return dims(input) == nullptr ? 0 : dims(input)->size();
  }
};

using row_rule = row_axis (*)(const row_step&);

struct row_entry {
  std::string_view op_type;
  row_rule rule;
  std::string_view domain = {}; ///< "" is ONNX's default domain
  /// Axes in front of the rows that output 0 has and the outputs behind it do not.
  std::size_t later_outputs_lack = 0;
  /// Whether the rule allows the axis another size than it had: rows joined with axes behind them,
  /// or parted from these again.
  bool regroups = false;
};

[[nodiscard]] std::span<const row_entry> elementwise_row_rules();
[[nodiscard]] std::span<const row_entry> compute_row_rules();
[[nodiscard]] std::span<const row_entry> movement_row_rules();
[[nodiscard]] std::span<const row_entry> mathematics_row_rules();
[[nodiscard]] std::span<const row_entry> network_row_rules();
[[nodiscard]] std::span<const row_entry> quantization_row_rules();
[[nodiscard]] std::span<const row_entry> machine_learning_row_rules();
[[nodiscard]] std::span<const row_entry> contrib_row_rules();

/// Rows in axis 0 of input 0 of [N, C, spatial…], all other inputs shared.
[[nodiscard]] row_axis per_image_rows(const row_step& at);
/// Of the matrix product of inputs 0 and 1 (ONNX's MatMul).
[[nodiscard]] row_axis matrix_product_rows(const row_step& at);
[[nodiscard]] std::span<const row_entry> indexing_row_rules();
[[nodiscard]] std::span<const row_entry> vision_row_rules();

/// The axis of the output with which all tensors that have rows line up when broadcast into an
/// output of `rank` axes; those without rows must have size 1 there.
[[nodiscard]] row_axis broadcast_rows(std::span<const fact> inputs,
                                      std::span<const row_state> states, std::size_t rank);

/// "input 1 does not depend on the rows alone", unless input `index` is absent or shared.
[[nodiscard]] std::optional<std::string> unless_shared(const row_step& at, std::size_t index);
[[nodiscard]] std::optional<std::string> unless_rest_shared(const row_step& at, std::size_t first);

/// `axis` attribute counted from the front; nothing if out of range.
[[nodiscard]] std::optional<std::size_t> axis_of(const row_step& at, std::int64_t fallback,
                                                 std::size_t rank);

} // namespace troupe::graph
