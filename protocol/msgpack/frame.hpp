#pragma once

#include "kernels/tensor/shared_bytes.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace troupe::protocol::rpc {

/// A frame ready to be sent: small bytes of its own, and between them the payloads of tensors,
/// shared and not copied.
class outgoing_frame {
public:
  /// Room for the encoder to append to; everything since the last payload.
  [[nodiscard]] std::string& text() noexcept { return text_; }

  void append(shared_bytes payload) {
    bytes_ += payload.size();
    payloads_.emplace_back(text_.size(), std::move(payload));
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size() + bytes_; }

  /// The bytes in order, as views that live as long as the frame stays where it is.
  [[nodiscard]] std::vector<std::span<const std::byte>> pieces() const {
    std::vector<std::span<const std::byte>> all;
    all.reserve(2 * payloads_.size() + 1);
    const auto text = std::as_bytes(std::span{text_});
    std::size_t at = 0;
    for (const auto& [end, payload] : payloads_) {
      if (end > at)
        all.push_back(text.subspan(at, end - at));
      if (payload.size() > 0)
        all.push_back(payload.view);
      at = end;
    }
    if (at < text.size())
      all.push_back(text.subspan(at));
    return all;
  }

private:
  std::string text_;
  std::vector<std::pair<std::size_t, shared_bytes>> payloads_; ///< each after so many bytes of text
  std::size_t bytes_ = 0;                                      ///< of the payloads
};

} // namespace troupe::protocol::rpc
