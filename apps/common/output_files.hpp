#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace troupe::apps {

struct named_output {
  std::string name;
  tensor content;
};

/// Every byte outside [A-Za-z0-9._-] as %XX, so that a tensor's name is a file's name. A name that
/// is only dots is encoded too: it would be a directory.
[[nodiscard]] std::string percent_encoded(std::string_view name);

/// Writes each output into `directory`, which is made where it is missing: `<name>.npy`, or
/// `<name>.bin` (the bare little-endian bytes, strings in KServe's form) where numpy has no such
/// type; and manifest.json: {"outputs": [{"name", "file", "datatype", "shape"}]}. The error names
/// the file.
[[nodiscard]] result<void> write_outputs(const std::filesystem::path& directory,
                                         std::span<const named_output> outputs);

} // namespace troupe::apps
