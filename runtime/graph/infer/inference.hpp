#pragma once

#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/infer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::graph {

/// One node's inference in progress: what a rule reads and writes. Errors made here carry no node
/// name; `infer` puts it in front.
class inference {
public:
  inference(const node& of, std::span<const fact> inputs, graph& fresh);

  [[nodiscard]] const node& of() const noexcept { return of_; }
  [[nodiscard]] int version() const noexcept { return of_.version; }
  [[nodiscard]] const attribute_map& attributes() const noexcept { return of_.attributes; }
  [[nodiscard]] graph& symbols() noexcept { return symbols_; }

  /// Inputs of the operator itself, those of post-ops left out.
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }
  [[nodiscard]] bool has(std::size_t input) const noexcept {
    return input < inputs_.size() && inputs_[input].present;
  }
  [[nodiscard]] std::optional<dtype> type(std::size_t input) const {
    return has(input) ? inputs_[input].type : std::nullopt;
  }
  [[nodiscard]] value_kind kind(std::size_t input) const {
    return has(input) ? inputs_[input].kind : value_kind::tensor;
  }
  /// Null if the input is absent or not even its rank is known.
  [[nodiscard]] const symbolic_shape* dims(std::size_t input) const {
    return has(input) && inputs_[input].dims ? &*inputs_[input].dims : nullptr;
  }
  [[nodiscard]] std::span<const fact> inputs() const noexcept { return inputs_; }
  [[nodiscard]] const fact& input(std::size_t index) const { return inputs_[index]; }

  /// Content of a small integer input as far as it is known; its length is known if this is not
  /// empty.
  [[nodiscard]] std::vector<element> elements(std::size_t input) const;
  /// Content of an int32 or int64 input, if all of it is known.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t input) const;
  /// Length of a rank 1 input, if known.
  [[nodiscard]] std::optional<std::int64_t> length(std::size_t input) const;

  /// The shape that an input holds: its length, and each size as far as known; nothing if not even
  /// the length is. Negative numbers count as not known.
  [[nodiscard]] std::optional<symbolic_shape> sizes_in(std::size_t input);

  [[nodiscard]] std::size_t output_count() const noexcept { return of_.outputs.size(); }
  [[nodiscard]] bool wants(std::size_t output) const noexcept {
    return output < of_.outputs.size() && of_.outputs[output] != no_value;
  }
  void set(std::size_t output, std::optional<dtype> type, std::optional<symbolic_shape> dims);
  void set_kind(std::size_t output, value_kind kind);
  void set_elements(std::size_t output, std::vector<element> elements);
  [[nodiscard]] std::vector<fact>& outputs() noexcept { return outputs_; }

  /// `count` axes of which nothing is known.
  [[nodiscard]] symbolic_shape unknown(std::size_t count);

  /// `axis` counted from the front; invalid_argument unless it is in [-rank, rank).
  [[nodiscard]] static result<std::size_t> axis_in(std::int64_t axis, std::size_t rank);
  /// The same for many, each once.
  [[nodiscard]] static result<std::vector<std::size_t>> axes_in(std::span<const std::int64_t> axes,
                                                                std::size_t rank);

  /// invalid_argument if the input's type is known and another one than that of input 0.
  [[nodiscard]] result<void> same_type(std::size_t input) const;
  /// invalid_argument if the input's rank is known and not `rank`.
  [[nodiscard]] result<void> expect_rank(std::size_t input, std::size_t rank) const;
  /// invalid_argument if both sizes are known and differ.
  [[nodiscard]] result<void> expect_size(std::size_t input, std::size_t axis, dim expected) const;

  /// Dims for the text of an error.
  [[nodiscard]] std::string graph_text(std::span<const dim> dims) const;

private:
  const node& of_;
  std::span<const fact> inputs_;
  graph& symbols_;
  std::vector<fact> outputs_;
};

using infer_rule = result<void> (*)(inference&);

/// One line of the rule table. `most_inputs` and `most_outputs` may be `any_number`.
struct infer_entry {
  std::string_view op_type;
  std::size_t least_inputs;
  std::size_t most_inputs;
  std::size_t most_outputs;
  infer_rule rule;
  std::string_view domain = {}; ///< "" is ONNX's default domain
};

inline constexpr std::size_t any_number = ~std::size_t{0};

/// The rules of each family; runtime/graph/infer.cpp joins them.
[[nodiscard]] std::span<const infer_entry> elementwise_rules();
[[nodiscard]] std::span<const infer_entry> convolution_rules();
[[nodiscard]] std::span<const infer_entry> pooling_rules();
[[nodiscard]] std::span<const infer_entry> product_rules();
[[nodiscard]] std::span<const infer_entry> normalization_rules();
[[nodiscard]] std::span<const infer_entry> reduction_rules();
[[nodiscard]] std::span<const infer_entry> reshape_rules();
[[nodiscard]] std::span<const infer_entry> shape_rules();
[[nodiscard]] std::span<const infer_entry> movement_rules();
[[nodiscard]] std::span<const infer_entry> indexing_rules();
[[nodiscard]] std::span<const infer_entry> value_rules();
[[nodiscard]] std::span<const infer_entry> rearrangement_rules();
[[nodiscard]] std::span<const infer_entry> random_rules();
[[nodiscard]] std::span<const infer_entry> vision_rules();
[[nodiscard]] std::span<const infer_entry> control_rules();
[[nodiscard]] std::span<const infer_entry> resize_rules();
[[nodiscard]] std::span<const infer_entry> mathematics_rules();
[[nodiscard]] std::span<const infer_entry> recurrent_rules();
[[nodiscard]] std::span<const infer_entry> attention_rules();
[[nodiscard]] std::span<const infer_entry> quantization_rules();
[[nodiscard]] std::span<const infer_entry> machine_learning_rules();
[[nodiscard]] std::span<const infer_entry> contrib_rules();
[[nodiscard]] std::span<const infer_entry> contrib_attention_rules();

/// Output 0 has the type and dims of input 0.
[[nodiscard]] result<void> infer_same(inference& at);

/// Writes what is known of the content of output 0 of integer operators used in shape computations.
void propagate_elements(inference& at);

} // namespace troupe::graph
