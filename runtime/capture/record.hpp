#pragma once

// What a capture holds: the arrivals, decisions and costs of a server's life, one record a line. No
// payloads. docs/capture-format.md describes the lines.

#include "kernels/base/clock.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/batching/policy.hpp"
#include "runtime/batching/queue_policy.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe::capture {

/// Of the format: a reader takes no other.
inline constexpr int format_version = 1;

/// All times are after the beginning of the capture.
struct header {
  struct device {
    std::string name;
    std::string kind;
    int tickets = 1;
  };
  std::int64_t unix_us = 0; ///< when it began
  std::vector<device> devices;
  std::size_t max_requests = 0;
  std::size_t max_request_bytes = 0;
  duration default_deadline{0};
  bool payloads = false; ///< requests are kept beside it
};

/// A version of a model begins to be served. Numbers are given once.
struct model {
  std::uint32_t number = 0;
  std::string name;
  std::string version;
  std::int64_t max_batch = 0;
  std::int64_t max_queue_rows = 0;
  batching::policy policy;
  batching::priority_rules priorities;
  std::vector<std::uint32_t> devices; ///< indices into the header's
};

/// Inputs that may share a batch: types, and dims with -1 for the batch axis. 0 is no shape's
/// number: it stands for those that came when too many were known.
struct shape_of_inputs {
  std::uint32_t number = 0;
  std::vector<std::pair<dtype, shape>> inputs;
};

/// A request reached the queue of a model, or would have if there had been room.
struct ask {
  duration at{0}; ///< when it was accepted
  std::uint64_t number = 0;
  std::uint32_t model = 0;
  std::uint32_t shape = 0;
  std::int64_t rows = 1;
  std::uint64_t priority = 0;
  duration deadline{0}; ///< after `at`; 0: none of its own
  std::size_t bytes = 0;
};

/// A request was refused before anything but its size was known.
struct turned_away {
  duration at{0};
  std::size_t bytes = 0;
};

/// A batch ran.
struct run {
  duration at{0}; ///< its beginning on the device
  std::uint32_t model = 0;
  std::uint32_t device = 0;
  std::uint32_t shape = 0;
  std::int64_t requests = 0;
  std::int64_t rows = 0;
  std::int64_t run_rows = 0; ///< with padding
  duration took{0};
};

/// A request was answered.
struct end {
  duration at{0};
  std::uint64_t number = 0;
  bool ok = false;
  std::string code; ///< of the error
  duration took{0}; ///< since it was accepted
};

/// So many records were dropped here: the disk was slower than the requests.
struct lost {
  std::uint64_t records = 0;
};

/// So many requests are not kept with their inputs, though that was asked for.
struct payloads_lost {
  std::uint64_t requests = 0;
};

using record =
    std::variant<header, model, shape_of_inputs, ask, turned_away, run, end, lost, payloads_lost>;

/// One line of JSON, with its line feed.
[[nodiscard]] std::string to_line(const record& of);

} // namespace troupe::capture
