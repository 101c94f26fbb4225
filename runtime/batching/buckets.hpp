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

/// What a batch could be made of.
struct waiting_rows {
  std::int64_t fit = 0;       ///< that may leave together
  std::int64_t all = 0;       ///< that wait, those among them
  std::int64_t most = 0;      ///< that a batch may have
  double arriving_per_ns = 0; ///< and what comes lately
};

/// How many rows are worth a batch of their own, where a batch is padded to the size that `bucket`
/// gives for it: all that fit, or as many as fill a smaller size. The sooner answers of small
/// batches are weighed against the rows a second that larger ones serve more, which count the more
/// the less time the device has to spare: what a batch takes longer than it must, everybody waits
/// who comes before the queue is empty again. `measured`: what runs of exactly that size took. What
/// was not measured yet is tried as a whole.
[[nodiscard]] std::int64_t
worth_running(const waiting_rows& of, const std::function<std::int64_t(std::int64_t)>& bucket,
              const std::function<std::optional<duration>(std::int64_t)>& measured);

} // namespace troupe::batching
