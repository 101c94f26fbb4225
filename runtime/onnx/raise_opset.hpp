#pragma once

#include "kernels/base/result.hpp"
#include "runtime/graph/graph.hpp"

#include <string>

namespace troupe::onnx {

/// The opset of the default domain from which on shape rules and kernels tell versions apart.
inline constexpr int raised_opset = 7;

/// Refuses (unimplemented) what no node of opset 7 says: operators of `version` below 7 whose
/// attributes or inputs had another meaning. To be asked before attributes are read.
[[nodiscard]] result<void> check_old_operator(const std::string& op_type, int version);

/// Turns a node of the default domain that was written for an opset below 7 into one of opset 7
/// that means the same; nodes it needs in front of it are added to `in`, where its inputs are
/// values. Attributes are read, outputs not yet known. unimplemented for what trains.
/// Source: ONNX's change log, versions 1 to 7 of each operator.
[[nodiscard]] result<void> raise_to_opset_7(graph::node& of, graph::graph& in);

} // namespace troupe::onnx
