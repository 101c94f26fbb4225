#pragma once

// What each actor understands: one alias an actor, one line a message.

#include "actors/messages.hpp"

namespace troupe::actors {

/// Takes jobs one at a time: router, preprocess, batcher, hosted stages.
///   submit  work on a job, hand it on or answer it
using job_stage = caf::typed_actor<rpc<void(submit_atom, job_ptr)>>;

/// Finds the placement for each request; starts a load for a model that is not there.
///   submit   send a job on its way
///   publish  these versions of a model serve from now on, and no others
///   retire   forget a model
///   loaded   the load that a miss started has ended
///   up       all that is served has been published: until then a restarted router lets jobs wait
using router_actor = job_stage::extend<rpc<void(publish_atom, routes_ptr)>,         //
                                       rpc<void(retire_atom, model_name)>,          //
                                       rpc<void(loaded_atom, model_name, failure)>, //
                                       rpc<void(up_atom)>>;

/// Works on the payload before a batch is formed: fills defaults, checks BYTES.
using preprocess_actor = job_stage;

/// Gathers the jobs of one placement into batches and answers for them until the device is through.
///   submit    queue a job
///   cancel    a queued job is over: let it go now
///   finished  the device is through with a batch
///   up        the device can take so many batches at once
///   down      the device died: what it held is lost
///   retire    no new jobs come: finish and leave
///   offer     a batcher of the same model has more than it can do
///   relieve   the batcher of this id is idle: give it so many rows of what waits
///   taken     what another batcher gave away: work on it as if it had come here
///   halt      nobody finds it any more: end
///   wake      its own alarm
using batcher_actor = job_stage::extend<rpc<void(cancel_atom, job_ptr)>,                 //
                                        rpc<void(finished_atom, outcome_ptr)>,           //
                                        rpc<void(up_atom, int)>,                         //
                                        rpc<void(down_atom)>,                            //
                                        rpc<void(retire_atom)>,                          //
                                        rpc<void(offer_atom)>,                           //
                                        rpc<void(relieve_atom, stage_id, std::int64_t)>, //
                                        rpc<void(taken_atom, handover_ptr)>,             //
                                        rpc<void(halt_atom)>,                            //
                                        rpc<void(wake_atom)>>;

/// Keeps the books of one memory of a device.
///   lease     a block of so many bytes for a device's ticket; comes as `granted`
///   lend      a block of so many bytes for whoever asks, at once or not at all
///   giveback  a block returns
///   reserve   books bytes for weights as long as they are held, or says why not
///   release   a reservation is over
///   wake      its own alarm: idle blocks expire
using memory_actor = caf::typed_actor<rpc<void(lease_atom, std::uint64_t, std::uint64_t)>, //
                                      rpc<lent(lend_atom, std::uint64_t)>,                 //
                                      rpc<void(giveback_atom, block_ptr)>,                 //
                                      rpc<reserved(reserve_atom, std::uint64_t)>,          //
                                      rpc<void(release_atom)>,                             //
                                      rpc<void(wake_atom)>>;

/// Runs batches on one device.
///   run      a batch; answered to its batcher with `finished`, exactly once
///   granted  the lease of such memory that a ticket waits for, or why there is none
///   planned  a plan that batches wait for was made, or could not be
///   done     the stream is through with a ticket
///   yield    give back the blocks of such memory kept for the next batch: all, or those unused
///   since the last yield
///   up       whoever keeps such memory's books was restarted: leases that are waited for are asked
///   for again
///   wake     resources that a batch waits for have been given back
///   probe    it was restarted: if it is not fit, it is to try itself before it takes batches
using device_actor =
    caf::typed_actor<rpc<void(run_atom, batch_ptr)>,                                             //
                     rpc<void(granted_atom, memory_kind, std::uint64_t, lease_ptr, failure)>,    //
                     rpc<void(planned_atom, std::uint64_t, std::int64_t, program_ptr, failure)>, //
                     rpc<void(done_atom, std::uint64_t, failure)>,                               //
                     rpc<void(yield_atom, memory_kind, bool)>,                                   //
                     rpc<void(up_atom, memory_kind)>,                                            //
                     rpc<void(wake_atom)>,                                                       //
                     rpc<void(probe_atom)>>;

/// Works on the outputs of a batch and answers its jobs.
using postprocess_actor = caf::typed_actor<rpc<void(split_atom, results_ptr)>>;

/// Slow work: reads and compiles models, makes plans.
using storage_actor = caf::typed_actor<rpc<void(load_atom, load_order_ptr)>, //
                                       rpc<void(plan_atom, plan_order_ptr)>>;

/// Knows every model: loads, warms up, publishes, unloads, answers questions.
///   loaded, warmed  steps of a load under way, by its number
///   needed  a model that a pipeline under way waits for is there, or is not
///   up      the router was restarted
using catalog_actor = caf::typed_actor<rpc<void(load_atom, load_request_ptr)>,            //
                                       rpc<void(unload_atom, load_request_ptr)>,          //
                                       rpc<void(loaded_atom, std::uint64_t, loaded_ptr)>, //
                                       rpc<void(warmed_atom, std::uint64_t, failure)>,    //
                                       rpc<void(needed_atom, std::uint64_t, failure)>,    //
                                       rpc<void(query_atom, query_ptr)>,                  //
                                       rpc<void(up_atom)>>;

/// Ends requests that outlive their deadline, and those whose clients left. Notices devices that
/// hold work and do not get on with it.
///   cancel  this request is no longer wanted
///   wake    time to look
///   up      the earliest deadline changed, or a device has begun to work
using watchdog_actor = caf::typed_actor<rpc<void(cancel_atom, job_ptr)>, //
                                        rpc<void(up_atom)>,              //
                                        rpc<void(wake_atom)>>;

/// Hosts one troupe::stage.
///   resume  a callback of the stage's: a sub-request was answered, a computation ended
///   retire  no new jobs come: finish and leave
using hosted_stage = job_stage::extend<rpc<void(resume_atom, continuation_ptr)>, //
                                       rpc<void(retire_atom)>>;

/// Root of the actors: spawns, monitors, restarts, stops.
///   place    spawn the batcher of a placement
///   host     spawn the actor of a stage
///   halt     a batcher or stage is no longer wanted: it is told to finish, now and should it be
///            restarted meanwhile
///   retire   a batcher or stage is through with everything: nobody is to find it any more
///   restart  a dead actor's pause is over
///   up       answered once everybody has been spawned; with an id: that device can take batches
///   silent   that device does not get on with its work: give it up and start it anew
using supervisor_actor = caf::typed_actor<rpc<failure(place_atom, place_order_ptr)>, //
                                          rpc<failure(host_atom, stage_order_ptr)>,  //
                                          rpc<void(halt_atom, stage_id)>,            //
                                          rpc<void(retire_atom, stage_id)>,          //
                                          rpc<void(restart_atom, stage_id)>,         //
                                          rpc<bool(up_atom)>,                        //
                                          rpc<void(up_atom, stage_id)>,              //
                                          rpc<void(silent_atom, stage_id)>>;

/// One listener.
///   begin  open it; the address, or why not
///   halt   no new connections
///   drain  let the open ones finish within so many milliseconds; answered when they have
using ingress_actor = caf::typed_actor<rpc<started(begin_atom)>, //
                                       rpc<void(halt_atom)>,     //
                                       rpc<bool(drain_atom, std::int64_t)>>;

} // namespace troupe::actors
