#pragma once

#include "kernels/base/result.hpp"
#include "runtime/onnx/byte_source.hpp"

#include <string>

namespace troupe::onnx {

/// A serialized ModelProto with every tensor's `raw_data` replaced by its offset and size in the
/// source (`payload_offset`, `payload_size` of onnx.proto). So a model of gigabytes is parsed from
/// the few hundred kilobytes that describe it, and weights are read once, into their place.
///
/// invalid_argument on what is not protobuf, truncated fields, and messages nested too deeply.
[[nodiscard]] result<std::string> read_skeleton(byte_source& from);

/// The same for a file that is one TensorProto.
[[nodiscard]] result<std::string> read_tensor_skeleton(byte_source& from);
/// The same for a SequenceProto or an OptionalProto.
[[nodiscard]] result<std::string> read_sequence_skeleton(byte_source& from);
[[nodiscard]] result<std::string> read_optional_skeleton(byte_source& from);

} // namespace troupe::onnx
