#pragma once

#include "kernels/device/device.hpp"

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::cpu {

/// A kernel, or the reason why this candidate leaves the node to the next one.
using made_kernel = tl::expected<std::shared_ptr<const kernel>, std::string>;

template <class... Args>
[[nodiscard]] tl::unexpected<std::string> decline(fmt::format_string<Args...> text,
                                                  Args&&... args) {
  return tl::unexpected<std::string>{fmt::format(text, std::forward<Args>(args)...)};
}

/// Who applies the post-ops of a node.
enum class post_ops_by : std::uint8_t {
  helper, ///< `make` sees a spec without them; a pass over the output is put behind its kernel
  kernel, ///< `make` sees them and honours each one, or declines
};

/// One way to compute an operator. `make` runs on a thread prepared by `kernel_thread`.
struct candidate {
  std::string_view name;
  made_kernel (*make)(const kernel_spec& spec, weight_cache& weights) = nullptr;
  post_ops_by post_ops = post_ops_by::helper;
};

/// The candidates of an operator, best first, its reference kernel last; empty for an operator that
/// nobody knows. The tables stand in tables/.
[[nodiscard]] std::span<const candidate> candidates_for(std::string_view domain,
                                                        std::string_view op_type);

/// How many inputs of its own the operator cannot do without; 0 for one that nobody knows.
[[nodiscard]] std::size_t least_inputs_of(std::string_view domain, std::string_view op_type);

struct operator_name {
  std::string_view domain; ///< "" is ONNX's default domain
  std::string_view op_type;
};

/// Every operator that has candidates, by domain and name.
[[nodiscard]] std::vector<operator_name> planned_operators();

/// How a candidate is told from its siblings: its name, and a mark where it fuses post-ops itself.
[[nodiscard]] std::string label_of(const candidate& which);

/// The first of `candidates` that takes the node; unimplemented with all reasons when none does,
/// invalid_argument when the node has no output or lacks an input that its operator needs.
[[nodiscard]] result<kernel_choice> choose_from(std::span<const candidate> candidates,
                                                const kernel_spec& spec, weight_cache& weights);

/// Which layouts the operator's best candidates work on; layout_rules.cpp is the table.
[[nodiscard]] layout_rule layouts_for(const kernel_spec& spec);

} // namespace troupe::cpu
