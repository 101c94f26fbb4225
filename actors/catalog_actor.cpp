#include "actors/catalog_actor.hpp"

#include "actors/describe.hpp"
#include "actors/hand_on.hpp"
#include "runtime/placement/routing.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// The catalog's books exist once: an exception ends the step that threw, never the actor.
template <class Work>
void survive(Work work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    spdlog::error("catalog: {}", thrown.what());
  }
}

} // namespace

catalog_actor::behavior_type catalog_state::make_behavior(commons_ptr shared,
                                                          std::vector<device_place> devices,
                                                          model_source source) {
  shared_ = std::move(shared);
  devices_ = std::move(devices);
  source_ = std::move(source);
  log_exceptions(self_, name);
  return {
      [this](load_atom, const load_request_ptr& asked) {
        survive([&] { asked->make ? host(asked) : begin(asked); });
      },
      [this](unload_atom, const load_request_ptr& asked) { survive([&] { unload(*asked); }); },
      [this](loaded_atom, std::uint64_t number, const loaded_ptr& outcome) {
        survive([&] { loaded(number, *outcome); });
      },
      [this](warmed_atom, std::uint64_t number, const failure& outcome) {
        survive([&] { outcome.what ? abort(number, *outcome.what) : warm(number); });
      },
      [this](retire_atom, stage_id batcher) { survive([&] { retired(batcher); }); },
      [this](query_atom, const query_ptr& asked) { survive([&] { answer(*asked); }); },
      [this](up_atom) { // the router lost its table
        for (const auto& [key, one] : models_)
          for (const auto& version : one.versions)
            tell<router_actor>(*shared_, shared_->router, publish_atom_v, version);
      },
  };
}

void catalog_state::begin(const load_request_ptr& asked) {
  auto& known = models_[asked->name];
  if (known.load != 0) {
    loads_[known.load].waiters.push_back(asked->done);
    return;
  }
  if (!known.versions.empty() && known.versions.front()->platform == "stage")
    return asked->done(fail(errc::already_exists, "model {}: a stage has this name", asked->name));
  auto order = std::make_shared<load_order>();
  order->name = asked->name;
  order->load = asked->load;
  if (!order->load) {
    auto found = source_.find ? source_.find(asked->name)
                              : result<loader>{fail(errc::not_found,
                                                    "model {}: not found: there is "
                                                    "no model repository",
                                                    asked->name)};
    if (!found) {
      if (known.versions.empty() && known.reason.empty())
        models_.erase(asked->name);
      return asked->done(propagate(std::move(found)));
    }
    order->load = std::move(*found);
  }
  const auto number = shared_->fresh_number();
  order->done = [shared = shared_, number](result<std::vector<loaded_model>> outcome) {
    tell<catalog_actor>(
        *shared, shared->catalog, loaded_atom_v, number,
        std::make_shared<const result<std::vector<loaded_model>>>(std::move(outcome)));
  };
  known.load = number;
  if (known.versions.empty())
    known.state = "LOADING";
  loads_[number] = {asked->name, {asked->done}, {}, 0, 0};
  const auto& storages = shared_->storages;
  if (!tell<storage_actor>(*shared_, storages[next_storage_++ % storages.size()], load_atom_v,
                           load_order_ptr{order}))
    abort(number, {errc::unavailable, "nobody loads models at the moment", 100});
}

void catalog_state::loaded(std::uint64_t number, const result<std::vector<loaded_model>>& outcome) {
  const auto at = loads_.find(number);
  if (at == loads_.end())
    return;
  if (!outcome)
    return abort(number, outcome.error());
  for (const auto& version : *outcome) {
    auto made = std::make_shared<served_model>();
    made->name = at->second.name;
    made->version = version.version;
    made->platform = "onnx";
    made->io = version.io;
    made->settings = version.settings;
    made->properties = version.properties;
    for (std::size_t i = 0; i < version.on.size(); ++i) {
      auto& one = made->placements.emplace_back();
      one.entry = shared_->stages->fresh_id();
      one.device = devices_[i].device;
      one.runs = version.on[i];
    }
    for (std::size_t i = 0; i < made->placements.size(); ++i)
      at->second.steps.push_back({made, i, version.warm_up, version.weight_bytes});
  }
  place(number);
}

// A placement: weights are booked, then its batcher is spawned, then it is warmed up.
void catalog_state::place(std::uint64_t number) {
  const auto& under_way = loads_[number];
  if (under_way.at == under_way.steps.size())
    return publish(number);
  const auto& step = under_way.steps[under_way.at];
  auto memory = shared_->stages->get<memory_actor>(devices_[step.placement].memory);
  auto root = shared_->stages->get<supervisor_actor>(shared_->supervisor);
  if (!memory || !root)
    return abort(number, {errc::unavailable, "the system is stopping", 100});
  auto gone = [this, number](caf::error&) {
    abort(number, {errc::unavailable, "an actor ended while the model was loading", 100});
  };
  auto order = std::make_shared<place_order>();
  order->model = step.model;
  order->where = &step.model->placements[step.placement];
  const auto bytes = step.weight_bytes;
  const auto memory_id = devices_[step.placement].memory;
  self_->request(memory, caf::infinite, reserve_atom_v, static_cast<std::uint64_t>(bytes))
      .then(
          [=, this](const failure& reserved) {
            if (reserved.what)
              return abort(number, *reserved.what);
            booked_[order->where->entry] = {memory_id, bytes};
            self_->request(root, caf::infinite, place_atom_v, place_order_ptr{order})
                .then([=, this](const failure& outcome) { placed_one(number, outcome); }, gone);
          },
          gone);
}

void catalog_state::placed_one(std::uint64_t number, const failure& outcome) {
  if (outcome.what)
    return abort(number, *outcome.what);
  loads_[number].warmed = 0;
  warm(number);
}

// A warm-up is a request like any other, except that it does not count.
void catalog_state::warm(std::uint64_t number) {
  const auto at = loads_.find(number);
  if (at == loads_.end())
    return;
  auto& under_way = at->second;
  const auto& step = under_way.steps[under_way.at];
  if (under_way.warmed == step.warm_up.size()) {
    ++under_way.at;
    return place(number);
  }
  const auto& inputs = step.warm_up[under_way.warmed++];
  inference_request request;
  request.model_name = step.model->name;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    request.inputs.push_back({step.model->io.inputs[i].name, inputs[i], {}});
  auto report = [shared = shared_, number](const response_part& part, bool) {
    tell<catalog_actor>(*shared, shared->catalog, warmed_atom_v, number,
                        failure{part ? std::nullopt : std::optional{part.error()}});
  };
  auto asked = job::impl::make(std::move(request), report, nullptr, shared_->live,
                               shared_->clock->now() + shared_->default_deadline);
  asked->internal = true;
  asked->resolve(step.model);
  asked->where = &step.model->placements[step.placement];
  for (const auto& input : asked->request.inputs)
    asked->key.add(input.value.type, input.value.dims, step.model->io.max_batch_size > 0);
  if (step.model->io.max_batch_size > 0)
    asked->rows = inputs.empty() || inputs[0].dims.empty() ? 1 : inputs[0].dims[0];
  hand_on(*shared_, asked->where->entry, asked);
}

void catalog_state::publish(std::uint64_t number) {
  const auto done = loads_.extract(number);
  auto& known = models_[done.mapped().name];
  auto old = std::exchange(known.versions, {});
  for (const auto& step : done.mapped().steps) {
    if (step.placement != 0)
      continue;
    known.versions.push_back(step.model);
    tell<router_actor>(*shared_, shared_->router, publish_atom_v, step.model);
  }
  for (const auto& one : old) {
    const bool replaced =
        std::any_of(known.versions.begin(), known.versions.end(),
                    [&](const auto& now) { return now->version == one->version; });
    if (!replaced)
      tell<router_actor>(*shared_, shared_->router, retire_atom_v,
                         model_name{one->name, one->version});
    retire(*one);
  }
  known.load = 0;
  known.state = "READY";
  known.reason.clear();
  for (const auto& waiter : done.mapped().waiters)
    waiter({});
}

void catalog_state::abort(std::uint64_t number, const error& why) {
  const auto failed = loads_.extract(number);
  if (failed.empty())
    return;
  spdlog::error("model {}: not loaded: {}", failed.mapped().name, why.text);
  const auto& steps = failed.mapped().steps;
  for (std::size_t i = 0; i < steps.size() && i <= failed.mapped().at; ++i)
    tell<batcher_actor>(*shared_, steps[i].model->placements[steps[i].placement].entry,
                        retire_atom_v);
  auto& known = models_[failed.mapped().name];
  known.load = 0;
  if (known.versions.empty())
    known.state = "UNAVAILABLE";
  known.reason = why.text;
  for (const auto& waiter : failed.mapped().waiters)
    waiter(tl::unexpected<error>{why});
}

void catalog_state::host(const load_request_ptr& asked) {
  auto& known = models_[asked->name];
  if (known.load != 0 || !known.versions.empty())
    return asked->done(fail(errc::already_exists, "model {}: the name is taken", asked->name));
  auto io = stage_io(asked->stage);
  auto root = shared_->stages->get<supervisor_actor>(shared_->supervisor);
  if (!io || !root) {
    models_.erase(asked->name);
    return asked->done(io ? fail(errc::unavailable, "the system is stopping")
                          : result<void>{propagate(std::move(io))});
  }
  auto made = std::make_shared<served_model>();
  made->name = asked->name;
  made->version = "1";
  made->platform = "stage";
  made->io = std::move(*io);
  made->placements.emplace_back().entry = shared_->stages->fresh_id();
  auto order = std::make_shared<stage_order>();
  order->id = made->placements.front().entry;
  order->name = asked->name;
  order->make = asked->make;
  known.load = shared_->fresh_number();
  self_->request(root, caf::infinite, host_atom_v, stage_order_ptr{order})
      .then(
          [=, this](const failure& outcome) {
            auto& now = models_[asked->name];
            now.load = 0;
            if (outcome.what)
              return asked->done(tl::unexpected<error>{*outcome.what});
            now.versions = {made};
            now.state = "READY";
            tell<router_actor>(*shared_, shared_->router, publish_atom_v, model_ptr{made});
            asked->done({});
          },
          [asked](caf::error&) { asked->done(fail(errc::unavailable, "the system is stopping")); });
}

void catalog_state::unload(const load_request& asked) {
  const auto at = models_.find(asked.name);
  if (at == models_.end() || at->second.versions.empty())
    return asked.done(fail(errc::not_found, "model {}: not loaded", asked.name));
  tell<router_actor>(*shared_, shared_->router, retire_atom_v, model_name{asked.name, {}});
  for (const auto& one : std::exchange(at->second.versions, {}))
    retire(*one);
  at->second.state = "UNAVAILABLE";
  at->second.reason = "unloaded";
  asked.done({});
}

// Its batchers finish what they have and leave; a stage ends with what it holds.
void catalog_state::retire(const served_model& old) {
  for (const auto& one : old.placements) {
    if (one.device == 0)
      tell<supervisor_actor>(*shared_, shared_->supervisor, retire_atom_v, one.entry);
    else
      tell<batcher_actor>(*shared_, one.entry, retire_atom_v);
  }
}

void catalog_state::retired(stage_id batcher) {
  const auto gone = booked_.extract(batcher);
  if (gone.empty())
    return;
  tell<memory_actor>(*shared_, gone.mapped().memory, release_atom_v,
                     static_cast<std::uint64_t>(gone.mapped().bytes));
  for (const auto& place : devices_)
    if (place.memory == gone.mapped().memory)
      tell<device_actor>(*shared_, place.device, yield_atom_v, true); // run states hold weights
}

result<model_ptr> catalog_state::find(const model_name& about) const {
  const auto at = models_.find(about.name);
  if (at == models_.end() || at->second.versions.empty())
    return fail(errc::not_found, "model {}: not found", about.name);
  std::vector<std::string> versions;
  for (const auto& one : at->second.versions)
    versions.push_back(one->version);
  const auto chosen = placement::choose_version(versions, about.version);
  if (!chosen)
    return fail(errc::not_found, "model {}: no version {}", about.name, about.version);
  return at->second.versions[*chosen];
}

std::vector<protocol::model_index_entry> catalog_state::index() const {
  std::vector<protocol::model_index_entry> entries;
  auto listed = source_.list ? source_.list() : std::vector<std::string>{};
  for (const auto& [key, one] : models_) {
    std::erase(listed, key);
    for (const auto& version : one.versions)
      entries.push_back({key, version->version, "READY", one.reason});
    if (one.versions.empty())
      entries.push_back({key, "", one.state, one.reason});
  }
  for (auto& rest : listed)
    entries.push_back({std::move(rest), "", "UNAVAILABLE", "not loaded"});
  return entries;
}

void catalog_state::answer(const query& asked) const {
  switch (asked.of) {
    case query::what::metadata: {
      const auto found = find(asked.about);
      if (!found)
        return asked.metadata(propagate(found));
      return asked.metadata(metadata_of(**found, models_.at(asked.about.name).versions));
    }
    case query::what::ready: {
      const auto found = find(asked.about);
      if (found)
        return asked.ready(true);
      const auto at = models_.find(asked.about.name);
      if (at != models_.end() && at->second.state == "LOADING")
        return asked.ready(false);
      return asked.ready(propagate(found));
    }
    case query::what::index: return asked.index(index());
    case query::what::statistics: {
      std::vector<protocol::model_statistics> all;
      for (const auto& [key, one] : models_)
        if (asked.about.name.empty() || key == asked.about.name)
          for (const auto& version : one.versions)
            all.push_back(statistics_of(*version));
      if (all.empty() && !asked.about.name.empty())
        return asked.statistics(fail(errc::not_found, "model {}: not found", asked.about.name));
      return asked.statistics(std::move(all));
    }
  }
}

catalog_actor::behavior_type catalog(catalog_actor::stateful_pointer<catalog_state> self,
                                     commons_ptr shared, std::vector<device_place> devices,
                                     model_source source) {
  return self->state.make_behavior(std::move(shared), std::move(devices), std::move(source));
}

} // namespace troupe::actors
