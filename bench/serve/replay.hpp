#pragma once

#include "bench/serve/load_run.hpp"
#include "protocol/msgpack/recorded_requests.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace troupe::bench {

/// The requests that a server kept with its capture FILE in FILE.requests, at the times at which
/// they came. Their payloads are read one by one.
class replay {
public:
  /// Times are divided by `speed`. Errors name the file; invalid_argument also where there is no
  /// request with its payload.
  [[nodiscard]] static result<replay> open(const std::filesystem::path& file, double speed);

  /// The next one; none at the end.
  [[nodiscard]] result<std::optional<timed_request>> next();

  [[nodiscard]] std::size_t requests() const noexcept { return due_.size(); }
  /// Requests of the capture whose payloads were not kept.
  [[nodiscard]] std::size_t without_payload() const noexcept { return without_payload_; }
  /// Bytes at the end of FILE.requests that are no whole request.
  [[nodiscard]] std::uint64_t cut_off() const noexcept { return from_.cut_off(); }

private:
  struct due {
    duration at{0};
    protocol::rpc::recorded_requests::entry what;
  };

  explicit replay(protocol::rpc::recorded_requests from) : from_(std::move(from)) {}

  protocol::rpc::recorded_requests from_;
  std::vector<due> due_; ///< in order
  std::size_t next_ = 0;
  std::size_t without_payload_ = 0;
};

} // namespace troupe::bench
