#pragma once

#include "actors/troupe.hpp"
#include "runtime/pipeline/run.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace troupe::actors {

/// A declared pipeline as a stage: `pipeline::run` decides, this makes the calls. So many requests
/// are worked on at once, the others wait in the order of their priorities; what may wait is
/// bounded by admission. Calls are sub-requests of the request: they run on its units, with its
/// deadline and priority, and end with it.
class pipeline_stage final : public stage {
public:
  explicit pipeline_stage(std::shared_ptr<const pipeline::plan> of) : plan_(std::move(of)) {}

  void on_request(stage_context& context, job request) override;

private:
  class flight;

  void begin(stage_context& context, job request);
  void begin_waiting(stage_context& context);
  template <class Work>
  void guarded(stage_context& context, flight& of, Work work);
  void advance(stage_context& context, const std::shared_ptr<flight>& of);
  void call(stage_context& context, const std::shared_ptr<flight>& of);
  void answered(stage_context& context, const std::shared_ptr<flight>& of, std::size_t step,
                std::size_t part, response_part got);
  result<void> join(stage_context& context, const std::shared_ptr<flight>& of,
                    pipeline::join_work work);
  void end(stage_context& context, flight& of, result<void> outcome);

  /// Priority (1 first, none last), then the order of arrival.
  using turn = std::pair<std::uint32_t, std::uint64_t>;

  std::shared_ptr<const pipeline::plan> plan_;
  std::map<turn, job> waiting_;
  std::uint64_t arrivals_ = 0;
  std::size_t sweep_at_ = 64; ///< waiting requests: look then for those that are over
  std::size_t active_ = 0;
  bool beginning_ = false;
};

} // namespace troupe::actors
