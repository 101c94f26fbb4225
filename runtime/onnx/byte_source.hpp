#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace troupe::onnx {

/// Bytes that can be read at any place: a file or a block of memory. One thread at a time.
class byte_source {
public:
  virtual ~byte_source() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `to` from `offset` on; invalid_argument when the source ends before.
  [[nodiscard]] virtual result<void> read(std::uint64_t offset, std::span<std::byte> to) = 0;

  /// `bytes` bytes from `offset` on, aligned to `tensor_alignment`. The block is allocated only
  /// after the source is known to be that long.
  [[nodiscard]] virtual result<shared_bytes> payload(std::uint64_t offset, std::uint64_t bytes);
};

/// Opens a regular file; not_found and invalid_argument name it. The file is read, never mapped: a
/// writer who truncates it must not be able to crash the reader.
[[nodiscard]] result<std::unique_ptr<byte_source>> open_file(const std::filesystem::path& file);

/// Reads from memory that the source keeps alive. Aligned payloads are views, not copies.
[[nodiscard]] std::unique_ptr<byte_source> in_memory(shared_bytes bytes);

/// Sequential access with a window, for scanning a source byte by byte.
class byte_reader {
public:
  explicit byte_reader(byte_source& of) : of_{of} {}

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t to) noexcept { position_ = to; }
  [[nodiscard]] result<std::byte> next();
  /// Appends the next `count` bytes to `to`; checked against the source's end before it grows.
  [[nodiscard]] result<void> append(std::uint64_t count, std::string& to);

private:
  byte_source& of_;
  std::vector<std::byte> window_;
  std::uint64_t window_start_ = 0;
  std::uint64_t position_ = 0;
};

} // namespace troupe::onnx
