#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/onnx/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::onnx {

class SparseTensorProto;
class TensorProto;

/// The most bytes that a model's sparse tensors may have as dense ones, together: a few bytes of a
/// file can claim any size.
inline constexpr std::uint64_t most_dense_bytes = std::uint64_t{256} << 20U;

/// Where external data may lie. Locations are looked up in `beside`; what is found there, symbolic
/// links followed, must lie in one of `within`.
struct external_places {
  std::vector<std::filesystem::path> beside;
  std::vector<std::filesystem::path> within;

  /// Those of a model file: the folder it is named in and the one where it really lies, and within
  /// these or the repository, if one is given. A store that links models and their data out of one
  /// folder of contents keeps working; a model from elsewhere cannot read what its owner could not
  /// have meant.
  [[nodiscard]] static external_places of_file(const std::filesystem::path& model,
                                               const std::filesystem::path& repository);
  /// Those of a model in memory whose data lie in a folder; none if it is empty.
  [[nodiscard]] static external_places of_folder(const std::filesystem::path& folder);
};

/// Reads tensors of one model: raw payloads from where the skeleton scan found them, external ones
/// from files beside the model, typed fields from the message. One thread at a time.
class tensor_reader {
public:
  tensor_reader(byte_source& model, external_places places)
      : model_{model}, places_{std::move(places)} {}

  /// invalid_argument names the tensor, what its dims and type need and what the file holds.
  [[nodiscard]] result<std::shared_ptr<const tensor>> read(const TensorProto& from);
  /// A sparse tensor (https://onnx.ai/onnx/repo-docs/IR.html) as the dense one it stands for.
  /// invalid_argument if indices are out of range or not in ascending order, resource_exhausted
  /// beyond `most_dense_bytes`.
  [[nodiscard]] result<std::shared_ptr<const tensor>> read_sparse(const SparseTensorProto& from);

private:
  [[nodiscard]] result<shared_bytes> external(const TensorProto& from, std::uint64_t bytes);
  [[nodiscard]] result<byte_source*> external_file(const std::string& location);

  byte_source& model_;
  external_places places_;
  std::uint64_t dense_bytes_ = 0; // of sparse tensors so far
  std::map<std::string, std::unique_ptr<byte_source>> files_;
};

} // namespace troupe::onnx
