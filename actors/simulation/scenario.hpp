#pragma once

// A question to the scheduler: these requests at these times, on devices that take so long for a
// batch: what becomes of them? Answered in virtual time by the actors that serve. Free of CAF.

#include "actors/served_model.hpp"
#include "actors/troupe.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::simulation {

/// How long a device takes for a run of so many rows of the shape with this number.
using run_cost = std::function<duration(std::size_t shape, std::int64_t rows)>;

struct arrival {
  duration at{0}; ///< after the beginning
  std::size_t model = 0;
  std::size_t shape = 0; ///< requests of one shape may share a batch
  std::int64_t rows = 1;
  std::uint64_t priority = 0;
  std::optional<duration> deadline{}; ///< after its arrival
  std::size_t bytes = 0;              ///< of the payload, as admission counts
};

/// A version of a model.
struct scene_model {
  std::string name;
  std::string version = "1";
  std::int64_t max_batch = 256;                   ///< 0: requests run one by one
  model_settings settings{};                      ///< without padding
  duration objective{0};                          ///< what "in time" means for its answers; 0: any
  std::vector<run_cost> on;                       ///< one per device; empty: not there
  std::vector<placement::instance_terms> terms{}; ///< likewise; empty: nothing special
};

struct scene_device {
  std::string name;
  int tickets = 2;
};

struct scenario {
  std::vector<scene_device> devices;
  std::vector<scene_model> models;
  options limits{}; ///< requests, bytes and deadline; nothing else of it
  /// The next request, not earlier than the one before; none at the end.
  std::function<std::optional<arrival>()> next;
  duration counted_from{0}; ///< arrivals before that happen but are not counted
};

/// What became of the requests of one model that were counted.
struct model_outcome {
  std::string name;
  std::string version;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t in_time = 0; ///< of those answered
  std::uint64_t refused = 0; ///< at once: no room, or the deadline could not be kept
  std::uint64_t expired = 0; ///< after they had waited
  std::uint64_t failed = 0;  ///< anything else
  std::uint64_t runs = 0;    ///< of batches within the span, on any device
  std::int64_t rows = 0;     ///< answered within the span, whenever they were asked for
  std::int64_t rows_in_time = 0;
  std::vector<duration> latencies{}; ///< of those answered, ascending

  /// 0 <= q <= 1; zero where nothing was answered.
  [[nodiscard]] duration quantile(double q) const;
  [[nodiscard]] duration mean() const;
};

struct device_outcome {
  std::string name;
  duration busy{0}; ///< within the span
};

struct outcome {
  duration span{0}; ///< from where counting begins to the last arrival
  std::vector<model_outcome> models;
  std::vector<device_outcome> devices;
};

/// Counts an answer that came after so long; `code`: of the error, empty if there was none.
void count_answer(model_outcome& to, duration took, std::string_view code);

/// Plays the scenario until every request is answered. invalid_argument if it makes no sense.
[[nodiscard]] result<outcome> play(const scenario& what);

} // namespace troupe::actors::simulation
