#pragma once

// A capture becomes a scenario: the same arrivals and devices that take as long as they took.

#include "actors/simulation/run_times.hpp"
#include "actors/simulation/scenario.hpp"
#include "runtime/capture/record.hpp"

#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::actors::simulation {

/// A capture as a whole.
struct captured {
  capture::header about;
  std::vector<capture::model> models; ///< by name and version; of several the last
  std::vector<arrival> arrivals;      ///< ascending; models are indices into `models`
  std::shared_ptr<const run_times> times;
  outcome measured;              ///< what the server made of them, as far as it was recorded
  duration length{0};            ///< to the last arrival
  std::uint64_t lost = 0;        ///< records that the server left out
  std::uint64_t turned_away = 0; ///< arrivals of which only the size is known
  std::uint64_t left_out = 0;    ///< arrivals for models of which no batch ran
  bool cut_off = false;          ///< in the middle of a record
};

/// invalid_argument names the line that is wrong, or says that there is nothing to replay.
[[nodiscard]] result<captured> read_capture(std::istream& from);

struct replay_options {
  std::optional<batching::policy> policy; ///< none: each model's own
  std::optional<duration> objective;      ///< likewise
  std::size_t devices = 0;                ///< 0: as many as there were
  double rate = 1;                        ///< arrivals come so much faster
  std::uint64_t seed = 1;                 ///< of the times that batches take
};

/// The scenario refers to `from`. Further devices are like those that were there.
[[nodiscard]] scenario scenario_of(const captured& from, const replay_options& with);

} // namespace troupe::actors::simulation
