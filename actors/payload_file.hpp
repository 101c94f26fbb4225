#pragma once

#include "kernels/base/result.hpp"
#include "protocol/msgpack/frame.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace troupe::actors {

/// Frames one after another in a file that only its owner may read. For one thread.
class payload_file {
public:
  /// Begins the file anew. invalid_argument says why it cannot be written.
  [[nodiscard]] static result<std::unique_ptr<payload_file>>
  create(const std::filesystem::path& file);
  ~payload_file();
  payload_file(const payload_file&) = delete;
  payload_file& operator=(const payload_file&) = delete;

  /// After an error the file holds what it held before.
  [[nodiscard]] result<void> append(std::span<const protocol::rpc::outgoing_frame> frames);

private:
  explicit payload_file(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_;
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::actors
