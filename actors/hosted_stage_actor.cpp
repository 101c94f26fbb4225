#include "actors/hosted_stage_actor.hpp"

#include "actors/hand_on.hpp"
#include "actors/long_turn.hpp"

namespace troupe::actors {

hosted_stage::behavior_type hosted_stage_state::make_behavior(commons_ptr shared,
                                                              stage_order_ptr what) {
  shared_ = std::move(shared);
  what_ = std::move(what);
  log_exceptions(self_, name);
  renew();
  return {
      [this](submit_atom, const job_ptr& asked) {
        if (left_)
          return send_back(*shared_, asked);
        asked->at.queued = shared_->clock->now();
        job held{asked};
        if (held.cancelled())
          asked->fail_with(errc::cancelled, "the request was cancelled");
        else
          call_stage([&] { stage_->on_request(*this, std::move(held)); });
      },
      [this](resume_atom, const continuation_ptr& next) {
        // Whatever the callback holds ends here, on the stage's thread.
        const auto run = std::exchange(next->run, nullptr);
        if (next->generation != generation_)
          return;
        --pending_;
        if (run)
          call_stage([&] { run(*this); });
        leave_if_idle();
      },
      [this](retire_atom) {
        leaving_ = true;
        leave_if_idle();
      },
  };
}

template <class Work>
void hosted_stage_state::call_stage(Work work) {
  const long_turn not_ours; // whom the stage wakes need not wait until it is through
  try {
    work();
  } catch (const std::exception& thrown) {
    spdlog::error("stage {} threw and is made anew: {}", what_->name, thrown.what());
    renew();
  }
}

void hosted_stage_state::renew() {
  generation_ = shared_->fresh_number();
  pending_ = 0;
  stage_.reset();
  stage_ = what_->make();
}

void hosted_stage_state::leave_if_idle() {
  if (leaving_ && !left_ && pending_ == 0)
    left_ = tell<supervisor_actor>(*shared_, shared_->supervisor, retire_atom_v, what_->id);
}

time_point hosted_stage_state::now() const noexcept {
  return shared_->clock->now();
}

void hosted_stage_state::submit(const job& parent, inference_request request,
                                std::function<void(stage_context&, response_part)> done) {
  if (request.priority == 0)
    request.priority = parent.request().priority;
  ++pending_;
  // The answer finds its way back by id: a handle in here would outlive a restart.
  auto back = [shared = shared_, to = what_->id, from = generation_,
               done = std::move(done)](response_part part, bool) {
    auto next = std::make_shared<continuation>();
    next->generation = from;
    next->run = [done, part = std::move(part)](stage_context& context) mutable {
      done(context, std::move(part));
    };
    tell<hosted_stage>(*shared, to, resume_atom_v, std::move(next));
  };
  const auto& of = parent.held();
  const bool joined = !of->units || of->units->join();
  auto sub = job::impl::make(std::move(request), std::move(back), joined ? of->units : nullptr,
                             shared_->live, of->deadline, of);
  if (!joined)
    sub->fail_with(errc::cancelled, "the request it belongs to was answered");
  else if (!tell<job_stage>(*shared_, shared_->router, submit_atom_v, sub))
    sub->fail_with(errc::unavailable, "no router at the moment", 100);
}

void hosted_stage_state::abandon(const job& parent) {
  const auto& of = parent.held();
  if (of->has_children())
    tell<watchdog_actor>(*shared_, shared_->watchdog, cancel_atom_v, of);
}

void hosted_stage_state::offload(std::function<void()> work,
                                 std::function<void(stage_context&)> done) {
  ++pending_;
  auto next = std::make_shared<continuation>();
  next->generation = generation_;
  next->run = std::move(done);
  shared_->offload([shared = shared_, to = what_->id, label = what_->name, work = std::move(work),
                    next = std::move(next)]() mutable {
    try {
      work();
    } catch (const std::exception& thrown) { // `done` is dropped, and the job it holds answered
      spdlog::error("stage {}: a computation threw: {}", label, thrown.what());
      next->run = nullptr;
    }
    work = nullptr;
    tell<hosted_stage>(*shared, to, resume_atom_v, std::move(next));
  });
}

hosted_stage::behavior_type host_stage(hosted_stage::stateful_pointer<hosted_stage_state> self,
                                       commons_ptr shared, stage_order_ptr what) {
  return self->state.make_behavior(std::move(shared), std::move(what));
}

} // namespace troupe::actors
