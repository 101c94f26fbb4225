#pragma once

// Every atom and message type of the system, in one place. Payloads travel by pointer and never
// leave the process this way, so they need no serialisation.

#include "actors/batch.hpp"
#include "actors/compat.hpp"
#include "actors/job.hpp"
#include "actors/orders.hpp"
#include "runtime/store/lease.hpp"
#include "runtime/store/memory_kind.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/type_id.hpp>

#include <memory>

namespace troupe::actors {

using job_ptr = std::shared_ptr<job::impl>;
using lease_ptr = std::shared_ptr<store::lease>;
using block_ptr = std::shared_ptr<buffer>;
using store::memory_kind;

} // namespace troupe::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::job_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::batch_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::outcome_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::results_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::lease_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::block_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::store::memory_kind)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::routes_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::model_name)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::continuation_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::loaded_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::handover_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::load_order_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::plan_order_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::program_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::place_order_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::stage_order_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::load_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::query_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::failure)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::reserved)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::lent)

CAF_BEGIN_TYPE_ID_BLOCK(troupe, caf::first_custom_type_id)
CAF_ADD_ATOM(troupe, troupe::actors, submit_atom, "submit")
CAF_ADD_ATOM(troupe, troupe::actors, cancel_atom, "cancel")
CAF_ADD_ATOM(troupe, troupe::actors, wake_atom, "wake")
CAF_ADD_ATOM(troupe, troupe::actors, publish_atom, "publish")
CAF_ADD_ATOM(troupe, troupe::actors, retire_atom, "retire")
CAF_ADD_ATOM(troupe, troupe::actors, loaded_atom, "loaded")
CAF_ADD_ATOM(troupe, troupe::actors, resume_atom, "resume")
CAF_ADD_ATOM(troupe, troupe::actors, run_atom, "run")
CAF_ADD_ATOM(troupe, troupe::actors, done_atom, "done")
CAF_ADD_ATOM(troupe, troupe::actors, finished_atom, "finished")
CAF_ADD_ATOM(troupe, troupe::actors, planned_atom, "planned")
CAF_ADD_ATOM(troupe, troupe::actors, plan_atom, "plan")
CAF_ADD_ATOM(troupe, troupe::actors, lease_atom, "lease")
CAF_ADD_ATOM(troupe, troupe::actors, granted_atom, "granted")
CAF_ADD_ATOM(troupe, troupe::actors, lend_atom, "lend")
CAF_ADD_ATOM(troupe, troupe::actors, giveback_atom, "giveback")
CAF_ADD_ATOM(troupe, troupe::actors, yield_atom, "yield")
CAF_ADD_ATOM(troupe, troupe::actors, reserve_atom, "reserve")
CAF_ADD_ATOM(troupe, troupe::actors, release_atom, "release")
CAF_ADD_ATOM(troupe, troupe::actors, up_atom, "up")
CAF_ADD_ATOM(troupe, troupe::actors, down_atom, "down")
CAF_ADD_ATOM(troupe, troupe::actors, probe_atom, "probe")
CAF_ADD_ATOM(troupe, troupe::actors, silent_atom, "silent")
CAF_ADD_ATOM(troupe, troupe::actors, split_atom, "split")
CAF_ADD_ATOM(troupe, troupe::actors, load_atom, "load")
CAF_ADD_ATOM(troupe, troupe::actors, unload_atom, "unload")
CAF_ADD_ATOM(troupe, troupe::actors, warmed_atom, "warmed")
CAF_ADD_ATOM(troupe, troupe::actors, needed_atom, "needed")
CAF_ADD_ATOM(troupe, troupe::actors, query_atom, "query")
CAF_ADD_ATOM(troupe, troupe::actors, place_atom, "place")
CAF_ADD_ATOM(troupe, troupe::actors, host_atom, "host")
CAF_ADD_ATOM(troupe, troupe::actors, restart_atom, "restart")
CAF_ADD_ATOM(troupe, troupe::actors, offer_atom, "offer")
CAF_ADD_ATOM(troupe, troupe::actors, relieve_atom, "relieve")
CAF_ADD_ATOM(troupe, troupe::actors, taken_atom, "taken")
CAF_ADD_ATOM(troupe, troupe::actors, begin_atom, "begin")
CAF_ADD_ATOM(troupe, troupe::actors, halt_atom, "halt")
CAF_ADD_ATOM(troupe, troupe::actors, drain_atom, "drain")
CAF_END_TYPE_ID_BLOCK(troupe)
