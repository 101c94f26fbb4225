#pragma once

// A program that asks a Troupe server: over msgpack (tcp://) or KServe's REST (http://).

#include "kernels/base/clock.hpp"
#include "protocol/inference.hpp"
#include "protocol/msgpack/encode.hpp"
#include "protocol/service.hpp"

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::client {

using protocol::inference_request;
using protocol::inference_response;
using protocol::model_index_entry;
using protocol::model_metadata;
using protocol::model_statistics;
using protocol::response_part;
using server_health = protocol::rpc::health;

struct options {
  duration connect_time = std::chrono::seconds{5};
  duration timeout = std::chrono::seconds{60}; ///< of every request, from the call to the answer
  std::size_t max_in_flight = 1024;            ///< requests beyond are refused by the client itself
  std::size_t max_response_bytes = std::size_t{1} << 30;
  std::size_t http_connections = 64; ///< HTTP answers one request at a time on each
};

/// A connection to one server. Thread-safe. A connection that was lost is not made again: every
/// call then answers unavailable. The destructor fails what is in flight with cancelled.
///
/// Errors are the server's, and of the client's own: unavailable (no connection, or lost),
/// deadline_exceeded (timeout; the server is told to cancel), resource_exhausted (too many in
/// flight), invalid_argument (an answer that is not one).
class client {
public:
  using done_fn = std::function<void(response_part)>;

  virtual ~client() = default;

  /// Sends a request; many may be in flight. `done` is called once, on the client's own thread,
  /// never before this returns; it must not block. Input data is shared with the caller, who leaves
  /// it as it is until the answer.
  virtual void infer(inference_request request, done_fn done) = 0;
  /// The same, as a future.
  [[nodiscard]] std::future<response_part> infer_async(inference_request request);
  /// The same, waiting. Not on the client's own thread, as all below.
  [[nodiscard]] response_part infer(inference_request request);

  /// With a model, also whether that is ready.
  [[nodiscard]] virtual result<server_health> health(std::string_view model = {},
                                                     std::string_view version = {}) = 0;
  [[nodiscard]] virtual result<model_metadata> metadata(std::string_view model,
                                                        std::string_view version = {}) = 0;
  [[nodiscard]] virtual result<std::vector<model_index_entry>> index() = 0;
  /// Of one model, or of all.
  [[nodiscard]] virtual result<std::vector<model_statistics>>
  statistics(std::string_view model = {}) = 0;
  /// Returns when the model is loaded (unloaded).
  [[nodiscard]] virtual result<void> load(std::string_view model) = 0;
  [[nodiscard]] virtual result<void> unload(std::string_view model) = 0;
};

/// Connects to "tcp://HOST[:PORT]" (port 8003) or "http://HOST[:PORT]" (port 8000). unimplemented
/// for grpc://, invalid_argument for anything else, unavailable if nobody answers there.
[[nodiscard]] result<std::unique_ptr<client>> connect(std::string_view url, options with = {});

} // namespace troupe::client
