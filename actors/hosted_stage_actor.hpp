#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <string>

namespace troupe::actors {

/// Hosts one troupe::stage and is its context. A stage that throws is made anew; callbacks that the
/// old one waits for are dropped, and with them the jobs they hold, which answers those. One that
/// is no longer wanted leaves once no callback is on its way.
class hosted_stage_state : public stage_context {
public:
  static inline const char* name = "stage";

  explicit hosted_stage_state(hosted_stage::pointer self) : self_(self) {}

  hosted_stage::behavior_type make_behavior(commons_ptr shared, stage_order_ptr what);

  [[nodiscard]] time_point now() const noexcept override;
  void submit(const job& parent, inference_request request,
              std::function<void(stage_context&, response_part)> done) override;
  void abandon(const job& parent) override;
  void offload(std::function<void()> work, std::function<void(stage_context&)> done) override;

private:
  template <class Work>
  void call_stage(Work work);
  void renew();
  void leave_if_idle();

  hosted_stage::pointer self_;
  commons_ptr shared_;
  stage_order_ptr what_;
  std::unique_ptr<stage> stage_;
  std::uint64_t generation_ = 0; ///< never given twice: a restarted actor's is another
  std::size_t pending_ = 0;      ///< callbacks on their way
  bool leaving_ = false;
  bool left_ = false; ///< whoever still finds this actor is to look for its successor
};

/// Spawn with `sys.spawn(host_stage, shared, order)`.
hosted_stage::behavior_type host_stage(hosted_stage::stateful_pointer<hosted_stage_state> self,
                                       commons_ptr shared, stage_order_ptr what);

} // namespace troupe::actors
