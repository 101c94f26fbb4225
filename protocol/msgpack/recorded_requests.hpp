#pragma once

#include "kernels/base/result.hpp"
#include "protocol/inference.hpp"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace troupe::protocol::rpc {

/// A file of `infer` requests as they go over a connection, one frame after another. Its payloads
/// stay on disk until they are asked for. Nothing in it is trusted.
class recorded_requests {
public:
  struct entry {
    std::uint32_t id = 0;
    std::uint64_t offset = 0; ///< bytes into the file
  };

  /// Looks through the whole file. not_found if it cannot be read; invalid_argument names the
  /// offset of a frame that is none. A file may end within a frame: those before it are there.
  [[nodiscard]] static result<recorded_requests> open(const std::filesystem::path& file);
  /// The same of anything that can be read from any place; errors call it `name`.
  [[nodiscard]] static result<recorded_requests> over(std::unique_ptr<std::istream> from,
                                                      std::string name);

  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }
  /// Bytes at the end that are no whole frame.
  [[nodiscard]] std::uint64_t cut_off() const noexcept { return size_ - end_; }

  /// One of `entries`, with its payloads. unavailable if the file has changed since.
  [[nodiscard]] result<inference_request> load(const entry& one);

private:
  struct frame {
    std::uint32_t id = 0;
    inference_request request;
    std::uint64_t end = 0; ///< offset of what follows; 0: the file ends within the frame
  };
  enum class payloads : std::uint8_t { skipped, read };

  [[nodiscard]] result<frame> read(std::uint64_t offset, payloads what);
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::byte* to, std::size_t bytes);

  std::unique_ptr<std::istream> from_;
  std::string name_;
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;
  std::vector<entry> entries_;
};

} // namespace troupe::protocol::rpc
