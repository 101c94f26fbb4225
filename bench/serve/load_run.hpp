#pragma once

#include "clients/cpp/client.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::bench {

struct load_plan {
  std::size_t concurrency =
      1; ///< closed loop: so many requests in flight, each followed by the next
  std::optional<double> rate; ///< open loop: requests a second, whatever the answers do
  bool poisson = false;       ///< open loop: exponential gaps instead of even ones
  duration warm_up{0};        ///< answered and not counted
  duration measured{0};
  std::uint64_t seed = 1;
};

struct load_result {
  std::vector<std::uint64_t> latencies_ns;       ///< of successful requests, sorted
  std::vector<std::uint64_t> refusals_ns;        ///< of requests refused for overload, sorted
  std::map<std::string, std::uint64_t> failures; ///< by code
  std::map<std::string, std::string> examples;   ///< one text per code
  std::uint64_t sent = 0;
  std::uint64_t late = 0; ///< open loop: sent more than a millisecond after their time
  double seconds = 0;     ///< from the first counted request to the last answer

  [[nodiscard]] std::uint64_t failed() const;
  /// In milliseconds; 0 if nothing succeeded, or was refused.
  [[nodiscard]] double quantile_ms(double q) const;
  [[nodiscard]] double refusal_ms(double q) const;
  [[nodiscard]] double mean_ms() const;
};

/// A request, and when it is due: so long after the first.
struct timed_request {
  duration at{0};
  client::inference_request request;
};

/// The next request of a schedule, in the order of their times; none at the end. An error ends the
/// run.
using schedule_fn = std::function<result<std::optional<timed_request>>()>;

/// Sends each request over one of the clients when it is due and waits for every answer. Those due
/// before `warm_up` is over do not count. Latencies as in the open loop.
[[nodiscard]] result<load_result>
run_schedule(const std::vector<std::unique_ptr<client::client>>& over, const schedule_fn& next,
             duration warm_up = duration{0});

/// Sends copies of `request` over the clients in turn and waits for every answer.
///
/// In the open loop a latency runs from when the request was due, not from when it left: a server
/// or client that falls behind cannot hide it (coordinated omission).
[[nodiscard]] load_result run_load(const std::vector<std::unique_ptr<client::client>>& over,
                                   const client::inference_request& request, const load_plan& plan);

} // namespace troupe::bench
