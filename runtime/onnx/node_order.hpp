#pragma once

#include "kernels/base/result.hpp"
#include "runtime/onnx/function_inliner.hpp"

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace troupe::onnx {

using name_test = std::function<bool(const std::string&)>;

/// The nodes in an order in which every input stands before its readers; nodes already in such an
/// order keep it. `known` are the names that no node produces: graph inputs and initializers;
/// `outside` tells those that a graph around this one has. What subgraphs capture counts as read.
/// invalid_argument names the node and input that nobody produces, a name produced twice, or the
/// nodes of a cycle.
[[nodiscard]] result<std::vector<scoped_node>>
in_topological_order(const std::vector<scoped_node>& nodes,
                     const std::unordered_set<std::string>& known, const name_test& outside);

/// "node 'conv1' (Conv)", for errors.
[[nodiscard]] std::string describe(const NodeProto& node);

} // namespace troupe::onnx
