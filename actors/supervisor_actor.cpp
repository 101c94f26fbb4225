#include "actors/supervisor_actor.hpp"

#include "actors/batcher_actor.hpp"
#include "actors/hand_on.hpp"
#include "actors/hosted_stage_actor.hpp"

namespace troupe::actors {

supervisor_actor::behavior_type supervisor_state::make_behavior(commons_ptr shared,
                                                                std::vector<child_spec> first) {
  shared_ = std::move(shared);
  log_exceptions(self_, name);
  self_->set_down_handler([this](caf::down_msg& down) { ended(down.source, down.reason); });
  self_->set_exit_handler([this](caf::exit_msg&) { stop(); });
  // Before any child: a device says `up` from its own thread, as soon as it is spawned.
  shared_->stages->set(shared_->supervisor, supervisor_actor{self_});
  for (auto& spec : first) {
    const auto id = spec.id;
    start(children_.emplace(id, child{std::move(spec), 0, {}, {}, false, false, false})
              .first->second);
  }
  return {
      [this](place_atom, const place_order_ptr& order) { return place(order); },
      [this](host_atom, const stage_order_ptr& order) { return host(order); },
      [this](halt_atom, stage_id id) { halt(id); },
      [this](retire_atom, stage_id id) { retire(id); },
      [this](restart_atom, stage_id id) { restart(id); },
      [](up_atom) { return true; },
      [this](up_atom, stage_id device) { device_up(device); },
      [this](silent_atom, stage_id device) { silent(device); },
  };
}

bool supervisor_state::start(child& what) {
  caf::strong_actor_ptr made;
  try {
    made = what.spec.spawn(self_->system());
  } catch (const std::exception& thrown) {
    spdlog::error("{} does not start: {}", what.spec.name, thrown.what());
    self_->delayed_send(self_, what.pause.next(shared_->clock->now()), restart_atom_v,
                        what.spec.id);
    return false;
  }
  what.address = caf::actor_cast<caf::actor_addr>(made);
  what.up = true;
  self_->monitor(what.address);
  shared_->stages->set(what.spec.id, made);
  return true;
}

void supervisor_state::ended(const caf::actor_addr& who, const caf::error& why) {
  for (auto& [id, one] : children_)
    if (one.address == who)
      return give_up(one, caf::to_string(why));
}

void supervisor_state::give_up(child& what, const std::string& why) {
  const auto id = what.spec.id;
  what.up = what.takes_batches = false;
  shared_->stages->clear(id);
  if (what.spec.health) { // before its batchers look
    what.spec.health->failed(shared_->clock->now());
    if (!what.spec.health->fit())
      spdlog::error("{} is not fit for work", what.spec.name);
  }
  if (what.spec.tickets > 0)
    tell_batchers(id, 0);
  const auto wait = what.pause.next(shared_->clock->now());
  spdlog::warn("{} ended ({}), starts again in {} ms", what.spec.name, why,
               std::chrono::duration_cast<std::chrono::milliseconds>(wait).count());
  self_->delayed_send(self_, wait, restart_atom_v, id);
}

// Its actor may be well and wait for a stream that is not: whatever that says later, nobody hears.
void supervisor_state::silent(stage_id id) {
  const auto at = children_.find(id);
  if (at == children_.end() || !at->second.up)
    return;
  auto& one = at->second;
  if (one.spec.health) // before its actor ends
    one.spec.health->fell_silent();
  self_->demonitor(one.address);
  if (const auto handle = caf::actor_cast<caf::strong_actor_ptr>(one.address))
    caf::anon_send_exit(handle, caf::exit_reason::kill);
  one.address = caf::actor_addr{};
  give_up(one, "it does not get on with its work");
}

void supervisor_state::restart(stage_id id) {
  const auto at = children_.find(id);
  if (at == children_.end() || at->second.up || !start(at->second))
    return;
  if (at->second.unwanted)
    ask_to_leave(at->second);
  if (at->second.spec.restarted)
    at->second.spec.restarted();
}

// A spawned device may still fail to open its stream: its batchers hear of it when it says so.
void supervisor_state::device_up(stage_id id) {
  const auto at = children_.find(id);
  if (at == children_.end() || !at->second.up)
    return;
  at->second.takes_batches = true;
  tell_batchers(id, at->second.spec.tickets);
}

void supervisor_state::tell_batchers(stage_id device, int tickets) {
  for (const auto& [id, one] : children_) {
    if (one.on_device != device)
      continue;
    if (tickets > 0)
      tell<batcher_actor>(*shared_, id, up_atom_v, tickets);
    else
      tell<batcher_actor>(*shared_, id, down_atom_v);
  }
}

failure supervisor_state::place(const place_order_ptr& order) {
  const auto id = order->where->entry;
  const auto on = order->where->device;
  child made{{id, "batcher of " + order->model->name, {}, 0}, on, {}, {}, false, false, false};
  made.spec.spawn = [this, order, on](caf::actor_system& in) {
    const auto device = children_.find(on);
    const auto tickets =
        device != children_.end() && device->second.takes_batches ? device->second.spec.tickets : 0;
    return caf::actor_cast<caf::strong_actor_ptr>(in.spawn(batcher, shared_, order, tickets));
  };
  start(children_.emplace(id, std::move(made)).first->second);
  return {};
}

failure supervisor_state::host(const stage_order_ptr& order) {
  child made{{order->id, "stage " + order->name, {}, 0}, 0, {}, {}, false, false, false};
  made.spec.spawn = [this, order](caf::actor_system& in) {
    return caf::actor_cast<caf::strong_actor_ptr>(in.spawn(host_stage, shared_, order));
  };
  start(children_.emplace(order->id, std::move(made)).first->second);
  return {};
}

void supervisor_state::halt(stage_id id) {
  const auto at = children_.find(id);
  if (at == children_.end())
    return;
  at->second.unwanted = true;
  ask_to_leave(at->second);
}

void supervisor_state::ask_to_leave(const child& what) const {
  if (what.on_device != 0)
    tell<batcher_actor>(*shared_, what.spec.id, retire_atom_v);
  else
    tell<hosted_stage>(*shared_, what.spec.id, retire_atom_v);
}

// A batcher first works through what it was sent before it left the table; a stage has sent it
// back.
void supervisor_state::retire(stage_id id) {
  const auto gone = children_.extract(id);
  if (gone.empty())
    return;
  self_->demonitor(gone.mapped().address);
  shared_->stages->clear(id);
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(gone.mapped().address);
  if (!handle)
    return;
  if (gone.mapped().on_device != 0)
    caf::anon_send(caf::actor_cast<batcher_actor>(handle), halt_atom_v);
  else
    caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
}

void supervisor_state::stop() {
  for (const auto& [id, one] : children_)
    if (auto handle = caf::actor_cast<caf::strong_actor_ptr>(one.address))
      caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
  children_.clear();
  shared_->stages->clear_all();
  self_->quit(caf::exit_reason::user_shutdown);
}

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self, commons_ptr shared,
           std::vector<child_spec> first) {
  return self->state.make_behavior(std::move(shared), std::move(first));
}

} // namespace troupe::actors
