#include "actors/hand_on.hpp"

#include "actors/complete_inputs.hpp"

namespace troupe::actors {

namespace {

constexpr std::uint32_t max_detours = 3;

} // namespace

void hand_on(const commons& shared, stage_id to, const job_ptr& held) {
  if (held->over() && !held->step) // of a step that is over its batcher has to hear
    held->fail_with(errc::cancelled, "the request was cancelled");
  else if (!tell<job_stage>(shared, to, submit_atom_v, held))
    send_back(shared, held);
}

void send_back(const commons& shared, const job_ptr& held) {
  const auto name = held->model ? held->model->name : held->request.model_name;
  // A warm-up is for one placement and no other.
  if (held->model && !held->internal && held->detours++ < max_detours) {
    restore_inputs(*held);
    held->unresolve();
    if (tell<job_stage>(shared, shared.router, submit_atom_v, held))
      return;
  }
  held->fail_with(errc::unavailable, fmt::format("model {}: being replaced or restarted", name),
                  100);
}

} // namespace troupe::actors
