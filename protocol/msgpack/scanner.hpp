#pragma once

#include "kernels/base/result.hpp"
#include "protocol/msgpack/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace troupe::protocol::rpc {

enum class frame_kind : std::uint8_t { request = 0, response = 1, notification = 2 };

/// Walks a frame as it arrives, before anything of it is decoded: finds where the head's values lie
/// and how long each payload is, and holds every size, count and depth against the limits. It keeps
/// a few counters and no bytes. No exceptions, no allocation (the text of a failure apart).
class frame_scanner {
public:
  enum class state : std::uint8_t {
    head,    ///< more bytes of the head are needed
    payload, ///< the next `payload_size()` bytes are a tensor
    done,    ///< the frame is complete
    failed,  ///< `failure()` says why; the frame's end is unknown
  };

  explicit frame_scanner(const limits& bounds) noexcept : bounds_(bounds) {}

  /// Looks at the bytes that follow those consumed so far; takes whole values and parts of strings.
  /// Returns how many bytes were consumed, all of them part of the head: the caller keeps those,
  /// and hands the rest in again. In `payload` and `done` nothing is consumed.
  std::size_t scan(std::span<const std::byte> bytes);

  /// The caller has taken the payload that was announced.
  void payload_taken() noexcept;

  /// Ready for the next frame.
  void reset() noexcept;

  [[nodiscard]] state now() const noexcept { return state_; }
  [[nodiscard]] std::uint64_t payload_size() const noexcept { return payload_size_; }
  [[nodiscard]] const error& failure() const noexcept { return failure_; }

  /// Known once their bytes have been consumed.
  [[nodiscard]] std::optional<frame_kind> kind() const noexcept { return kind_; }
  [[nodiscard]] std::optional<std::uint32_t> id() const noexcept { return id_; }
  /// Elements of the last value of the frame, if that is an array; else 0.
  [[nodiscard]] std::uint32_t parameters() const noexcept { return parameters_; }

  /// Offsets into the consumed bytes: where the frame's element `index` (0 to 3) begins, and where
  /// the first element of its last array begins and ends (equal if there is none).
  [[nodiscard]] std::size_t element(std::size_t index) const noexcept { return element_[index]; }
  [[nodiscard]] std::size_t header_begin() const noexcept { return header_begin_; }
  [[nodiscard]] std::size_t header_end() const noexcept { return header_end_; }

private:
  struct token;

  [[nodiscard]] bool take(const token& next);
  [[nodiscard]] bool open(std::uint64_t count, bool is_array);
  void finish_value() noexcept;
  [[nodiscard]] bool reject(errc code, std::string text);

  limits bounds_;
  state state_ = state::head;
  error failure_;
  std::optional<frame_kind> kind_;
  std::optional<std::uint32_t> id_;
  std::uint32_t parameters_ = 0;
  std::size_t consumed_ = 0; ///< head bytes so far
  std::uint64_t skip_ = 0;   ///< bytes of a string still to pass
  std::uint64_t payload_size_ = 0;
  std::uint64_t payload_total_ = 0;
  std::uint32_t payloads_ = 0;
  std::uint32_t values_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t elements_ = 0;           ///< of the frame's array
  std::array<std::uint64_t, 33> left_{}; ///< values missing, per open array or map
  std::array<std::size_t, 4> element_{};
  std::size_t header_begin_ = 0;
  std::size_t header_end_ = 0;
};

} // namespace troupe::protocol::rpc
