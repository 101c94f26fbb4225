#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/send.hpp>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace troupe::actors {

/// Sends a job to the next stage; if nobody is there, back to the router.
void hand_on(const commons& shared, stage_id to, const job_ptr& held);

/// The place that a job was sent to is gone or going: the router is to find another one. Answers
/// `unavailable` if it has been sent back too often, or if nobody else may serve it.
void send_back(const commons& shared, const job_ptr& held);

/// Sends to whoever stands behind an id; false if nobody does.
template <class Handle, class... Args>
bool tell(const commons& shared, stage_id to, Args&&... args) {
  auto handle = shared.stages->get<Handle>(to);
  if (!handle)
    return false;
  caf::anon_send(handle, std::forward<Args>(args)...);
  return true;
}

/// Works on a job; an exception answers that job and spares the actor.
template <class Work>
void guarded(const char* where, const job_ptr& held, Work work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    spdlog::error("{}: {}", where, thrown.what());
    held->fail_with(errc::internal, fmt::format("{}: {}", where, thrown.what()));
  }
}

/// For every actor: an exception that leaves a handler ends the actor, said once in the log.
template <class Self>
void log_exceptions(Self* self, const char* name) {
  self->set_exception_handler([name](std::exception_ptr& thrown) -> caf::error {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& why) {
      spdlog::error("{} ends: {}", name, why.what());
    } catch (...) {
      spdlog::error("{} ends: unknown exception", name);
    }
    return caf::make_error(caf::sec::runtime_error);
  });
}

} // namespace troupe::actors
