#include "actors/hand_on.hpp"

namespace troupe::actors {

void hand_on(const commons& shared, stage_id to, const job_ptr& held) {
  if (held->over()) {
    held->fail_with(errc::cancelled, "the request was cancelled");
    return;
  }
  if (!tell<job_stage>(shared, to, submit_atom_v, held))
    held->fail_with(errc::unavailable,
                    fmt::format("model {}: being replaced or restarted",
                                held->model ? held->model->name : held->request.model_name),
                    100);
}

} // namespace troupe::actors
