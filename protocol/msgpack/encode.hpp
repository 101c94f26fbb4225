#pragma once

// The codec's sending half: pure functions from the domain's types to frames of
// docs/msgpack-protocol.md. Payloads are shared, never copied.

#include "protocol/msgpack/frame.hpp"
#include "protocol/service.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::protocol::rpc {

/// What `health` reports as `protocol`.
inline constexpr std::int64_t protocol_number = 1;

/// The longest payload that MessagePack can say.
inline constexpr std::size_t max_bin_bytes = 0xffff'ffff;

/// The answer to `health`.
struct health {
  bool live = false;
  bool ready = false;
  std::int64_t protocol = protocol_number;
  std::string server;
  std::string version;
  std::optional<bool> model_ready{};
};

/// Inputs have at most `max_bin_bytes` each.
[[nodiscard]] outgoing_frame encode_infer_request(std::uint32_t id, const inference_request& asked);
/// A request with at most one parameter, a map of the model's name and version where not empty.
[[nodiscard]] outgoing_frame encode_request(std::uint32_t id, std::string_view method,
                                            std::string_view model = {},
                                            std::string_view version = {});
[[nodiscard]] outgoing_frame encode_cancel(std::uint32_t id);

/// An error frame if an output has more than `max_bin_bytes`.
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id, const inference_response& answer);
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id, const health& answer);
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id, const model_metadata& answer);
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id,
                                             const std::vector<model_index_entry>& answer);
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id,
                                             const std::vector<model_statistics>& answer);
[[nodiscard]] outgoing_frame encode_response(std::uint32_t id, bool answer);
[[nodiscard]] outgoing_frame encode_nil(std::uint32_t id);
[[nodiscard]] outgoing_frame encode_error(std::uint32_t id, const error& failure);
/// The notification that tells a client why its connection ends.
[[nodiscard]] outgoing_frame encode_notice(const error& failure);

} // namespace troupe::protocol::rpc
