#pragma once

#include "kernels/base/result.hpp"
#include "kernels/op/datum.hpp"
#include "kernels/tensor/shared_bytes.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/graph/graph.hpp"

#include <filesystem>
#include <memory>

namespace troupe::onnx {

/// Opsets of the default domain that nodes may be written for; raise_opset.hpp is about those
/// before 7.
inline constexpr int oldest_opset = 1;
inline constexpr int newest_opset = 28;

/// Reads an ONNX model (https://onnx.ai/onnx/repo-docs/IR.html) into a graph: initializers and
/// Constant nodes become constants, functions are inlined, nodes stand in topological order,
/// unnamed nodes get a name. Dims declared as -1, "?" or "" are each a fresh unknown; a name is one
/// symbol everywhere. Types and dims beyond the declared ones are left to `graph::infer_all`.
///
/// Errors name the file, the node and what was expected: not_found, invalid_argument for what is
/// not a valid model, unimplemented for what Troupe does not run (maps, sparse tensors, other
/// opsets). Allocates what the file holds, never what it claims. Any thread.
/// External data lie below the model's folder, as named or as it really is; symbolic links are
/// followed if they end there or in `repository`.
[[nodiscard]] result<graph::graph> import_file(const std::filesystem::path& file,
                                               const std::filesystem::path& repository = {});

/// The same from memory; aligned weights share it. External data is looked for in `directory`; if
/// that is empty there may be none.
[[nodiscard]] result<graph::graph> import_bytes(shared_bytes bytes,
                                                const std::filesystem::path& directory = {});

/// Reads a file that is one serialized TensorProto, as the ONNX project's tests keep their data.
[[nodiscard]] result<std::shared_ptr<const tensor>>
import_tensor(const std::filesystem::path& file);

/// The same for a SequenceProto or an OptionalProto, as `kind` says.
[[nodiscard]] result<datum> import_value(const std::filesystem::path& file, graph::value_kind kind);

} // namespace troupe::onnx
