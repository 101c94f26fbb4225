#pragma once

#include "kernels/base/result.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::onnx {

class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;

/// Opset version by domain; ONNX's default domain is "".
using opset_map = std::map<std::string, int>;

/// "ai.onnx" is another name of the default domain.
[[nodiscard]] std::string normal_domain(const std::string& domain);

/// A node together with the opsets it was written for: a function brings its own.
struct scoped_node {
  const NodeProto* proto = nullptr;
  const opset_map* opsets = nullptr;
  int depth = 0; ///< of function calls around it
};

/// The nodes of a graph with every call of a model-local function replaced by the function's nodes.
/// Subgraphs are left as they are but for the names of a function's values: whoever reads them asks
/// again, with the opsets and the depth of the node they stand in. Owns what it makes: nodes live
/// as long as the inliner and the model.
class function_inliner {
public:
  explicit function_inliner(const ModelProto& model);
  ~function_inliner();
  function_inliner(const function_inliner&) = delete;
  function_inliner& operator=(const function_inliner&) = delete;

  /// invalid_argument on functions that call themselves and on calls with too many inputs or
  /// outputs; resource_exhausted when calls of calls multiply beyond a million nodes.
  [[nodiscard]] result<std::vector<scoped_node>> flatten(const GraphProto& of,
                                                         const opset_map& opsets, int depth);
  [[nodiscard]] const opset_map& model_opsets() const noexcept { return model_opsets_; }

private:
  [[nodiscard]] result<void> add(const NodeProto& node, const opset_map& opsets, int depth,
                                 std::vector<scoped_node>& to);
  [[nodiscard]] result<void> expand(const NodeProto& call, const FunctionProto& called, int depth,
                                    std::vector<scoped_node>& to);

  opset_map model_opsets_;
  std::map<std::string, const FunctionProto*> functions_;
  std::map<const FunctionProto*, opset_map> function_opsets_;
  std::vector<std::unique_ptr<NodeProto>> made_;
  int calls_ = 0;
};

} // namespace troupe::onnx
