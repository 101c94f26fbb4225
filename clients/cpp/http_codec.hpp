#pragma once

// KServe's JSON, from the client's side: pure functions.

#include "clients/cpp/client.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::client {

/// What is sent: a JSON text and behind it the tensors, shared and not copied.
struct http_request {
  std::string method = "GET";
  std::string target;
  std::string body;
  std::vector<shared_bytes> tail;

  /// Request line, header fields and empty line.
  [[nodiscard]] std::string head(std::string_view host) const;
};

/// What came back.
struct http_reply {
  int status = 0;
  std::string body;
  std::size_t json_bytes = 0; ///< of the body; the rest is tensors
  std::uint32_t retry_after_s = 0;

  [[nodiscard]] std::string_view json() const {
    return std::string_view{body}.substr(0, json_bytes);
  }
};

/// A segment of a path with everything percent-encoded that is not plain.
[[nodiscard]] std::string percent_encoded(std::string_view text);
/// "/v2/models/M[/versions/V]".
[[nodiscard]] std::string model_path(std::string_view model, std::string_view version);

[[nodiscard]] http_request encode_infer(const inference_request& asked);
/// Tensors are copied out of the body into aligned blocks.
[[nodiscard]] result<inference_response> decode_infer(const http_reply& reply);

/// The error that a status and its body stand for; nothing for 2xx.
[[nodiscard]] std::optional<error> failure_of(const http_reply& reply);
[[nodiscard]] result<model_metadata> decode_metadata(const http_reply& reply);
[[nodiscard]] result<std::vector<model_index_entry>> decode_index(const http_reply& reply);
[[nodiscard]] result<std::vector<model_statistics>> decode_statistics(const http_reply& reply);
/// The name and version of a server's metadata.
[[nodiscard]] result<server_health> decode_server(const http_reply& reply);

} // namespace troupe::client
