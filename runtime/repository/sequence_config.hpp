#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"
#include "kernels/tensor/dtype.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::repository {

namespace schema {
class ModelSequenceBatching;
}

/// What a config.pbtxt says of sequences.
struct sequence_config {
  struct control {
    enum class kind : std::uint8_t { start, ready, end, correlation_id };
    std::string input;
    kind of = kind::start;
    dtype type = dtype::int32;
    double no = 0; ///< of a flag
    double yes = 1;
  };
  struct state {
    std::string input;
    std::string output;
    std::optional<dtype> type;      ///< none: the model's
    std::vector<std::int64_t> dims; ///< without the batch axis where the model batches
    std::string initial_file;       ///< below initial_state/; empty: zeros
  };
  duration max_idle = std::chrono::seconds{1};
  std::vector<control> controls;
  std::vector<state> states;
  std::optional<std::int64_t> candidates; ///< of the oldest strategy; none: direct
  std::vector<std::int64_t> preferred;    ///< rows
  duration max_queue_delay{0};
  double slot_utilization = 0; ///< of the direct strategy: the part of a batch worth leaving for
  bool preserve_ordering = false;
};

/// invalid_argument for what contradicts itself, unimplemented for what is not followed here.
[[nodiscard]] result<sequence_config> sequences_of(const schema::ModelSequenceBatching& in,
                                                   std::string_view origin);

} // namespace troupe::repository
