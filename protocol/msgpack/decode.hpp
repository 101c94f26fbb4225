#pragma once

// The codec's receiving half: pure functions from values that `frame_scanner` has found whole and
// within limits to the domain's types. All errors are invalid_argument and name the key.

#include "protocol/msgpack/encode.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace troupe::protocol::rpc {

/// One whole MessagePack value.
using value_bytes = std::span<const std::byte>;

/// A request without its payloads: `request.inputs` have types and sizes, and no data yet.
struct request_header {
  inference_request request;
  std::vector<std::uint64_t> sizes; ///< bytes of each payload, checked against type and dims
  std::uint64_t total = 0;          ///< of them
};

struct response_header {
  inference_response response;
  std::vector<std::uint64_t> sizes;
  std::uint64_t total = 0;
};

/// The header of `infer`; `payloads` is how many values follow it in the frame.
[[nodiscard]] result<request_header> decode_request_header(value_bytes header,
                                                           std::size_t payloads);
[[nodiscard]] result<response_header> decode_response_header(value_bytes header,
                                                             std::size_t payloads);

/// The map of a method that names a model. Both empty if `bytes` is.
struct model_reference {
  std::string model;
  std::string version;
};
[[nodiscard]] result<model_reference> decode_model(value_bytes bytes);

/// The map of `cancel`.
[[nodiscard]] result<std::uint32_t> decode_cancel(value_bytes bytes);

[[nodiscard]] result<std::string> decode_string(value_bytes bytes);
[[nodiscard]] result<bool> decode_bool(value_bytes bytes);
[[nodiscard]] bool is_nil(value_bytes bytes) noexcept;

/// What the other side calls an error; an unknown code becomes `internal`.
[[nodiscard]] result<error> decode_error(value_bytes bytes);
[[nodiscard]] result<health> decode_health(value_bytes bytes);
[[nodiscard]] result<model_metadata> decode_metadata(value_bytes bytes);
[[nodiscard]] result<std::vector<model_index_entry>> decode_index(value_bytes bytes);
[[nodiscard]] result<std::vector<model_statistics>> decode_statistics(value_bytes bytes);

} // namespace troupe::protocol::rpc
