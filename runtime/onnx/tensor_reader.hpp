#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/onnx/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace troupe::onnx {

class TensorProto;

/// Reads tensors of one model: raw payloads from where the skeleton scan found them, external ones
/// from files beside the model, typed fields from the message. One thread at a time.
class tensor_reader {
public:
  /// `directory` is where external data lies; empty: the model may have none.
  tensor_reader(byte_source& model, std::filesystem::path directory)
      : model_{model}, directory_{std::move(directory)} {}

  /// invalid_argument names the tensor, what its dims and type need and what the file holds.
  [[nodiscard]] result<std::shared_ptr<const tensor>> read(const TensorProto& from);

private:
  [[nodiscard]] result<shared_bytes> external(const TensorProto& from, std::uint64_t bytes);
  [[nodiscard]] result<byte_source*> external_file(const std::string& location);

  byte_source& model_;
  std::filesystem::path directory_;
  std::map<std::string, std::unique_ptr<byte_source>> files_;
};

} // namespace troupe::onnx
