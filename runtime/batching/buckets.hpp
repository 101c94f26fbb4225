#pragma once

#include "runtime/placement/latency_profile.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace troupe::batching {

/// How a batch runs when the plan for its own size may not be there yet.
struct bucket_choice {
  enum class way : std::uint8_t {
    exact, ///< the wanted bucket is planned
    pad,   ///< a larger bucket is planned: rows are padded up to it
    split, ///< smaller ones are planned: several runs
    wait,  ///< until the wanted bucket is planned
  };
  way how = way::wait;
  std::int64_t bucket = 0;
};

/// Chooses for `rows` rows, of which `wanted` is the smallest bucket that holds them, among those
/// planned (ascending), by the profile's times. `planning` is what making the missing plan takes:
/// the wait is chosen when it is the fastest way to the answer.
[[nodiscard]] bucket_choice choose_bucket(std::int64_t rows, std::int64_t wanted,
                                          std::span<const std::int64_t> planned,
                                          const placement::latency_profile& profile,
                                          duration planning);

/// How many of `rows` waiting rows are worth a batch of their own, where a batch is padded to the
/// size that `bucket` gives for it: all of them, or only as many as fill the next smaller size, if
/// that serves more rows in a second. What was not measured yet is tried as a whole.
[[nodiscard]] std::int64_t
worth_running(std::int64_t rows, const std::function<std::int64_t(std::int64_t)>& bucket,
              const std::function<std::optional<duration>(std::int64_t)>& measured);

} // namespace troupe::batching
