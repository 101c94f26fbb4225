#include "actors/catalog_actor.hpp"

#include "actors/answer_once.hpp"
#include "actors/describe.hpp"
#include "actors/hand_on.hpp"

namespace troupe::actors {

namespace {

// An exception ends the step that threw, never the actor: others would lose their loads with it.
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
                                                          model_source source,
                                                          std::shared_ptr<catalog_books> books) {
  shared_ = std::move(shared);
  devices_ = std::move(devices);
  source_ = std::move(source);
  books_ = std::move(books);
  log_exceptions(self_, name);
  survive([&] { give_up_loads(); });
  return {
      [this](load_atom, const load_request_ptr& asked) {
        survive([&] { asked->make ? host(asked) : begin(asked); });
      },
      [this](unload_atom, const load_request_ptr& asked) { survive([&] { unload(*asked); }); },
      [this](loaded_atom, std::uint64_t number, const loaded_ptr& outcome) {
        survive_load(number, [&] { loaded(number, *outcome); });
      },
      [this](warmed_atom, std::uint64_t number, const failure& outcome) {
        survive_load(number, [&] { go_on(number, outcome); });
      },
      [this](needed_atom, std::uint64_t number, const failure& outcome) {
        survive_load(number, [&] { outcome.what ? abort(number, *outcome.what) : needed(number); });
      },
      [this](query_atom, const query_ptr& asked) { survive([&] { answer(*asked); }); },
      [this](up_atom) { survive([&] { publish_all(); }); },
  };
}

template <class Work>
void catalog_state::survive_load(std::uint64_t number, Work work) {
  try {
    work();
  } catch (const std::exception& thrown) { // its load would be under way for ever
    survive([&] { abort(number, {errc::internal, thrown.what()}); });
  }
}

void catalog_state::announce(const std::string& model, const entry& what) const {
  tell<router_actor>(
      *shared_, shared_->router, publish_atom_v,
      routes_ptr{std::make_shared<model_routes>(model_routes{model, what.versions, what.rules})});
}

// The router lost its table.
void catalog_state::publish_all() const {
  for (const auto& [key, one] : books_->models)
    if (!one.versions.empty())
      announce(key, one);
  tell<router_actor>(*shared_, shared_->router, up_atom_v);
}

// The steps of a load end with the actor that took them.
void catalog_state::give_up_loads() {
  while (!books_->loads.empty())
    abort(books_->loads.begin()->first,
          {errc::unavailable, "an actor ended while the model was loading", 100});
}

void catalog_state::begin(const load_request_ptr& asked) {
  auto& known = books_->models[asked->name];
  if (known.load != 0) {
    books_->loads[known.load].waiters.push_back(asked->done);
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
        books_->models.erase(asked->name);
      return asked->done(propagate(std::move(found)));
    }
    order->load = std::move(*found);
  }
  const auto number = shared_->fresh_number();
  order->done = answer_once<std::vector<loaded_model>>(
      [shared = shared_, number](result<std::vector<loaded_model>> outcome) {
        tell<catalog_actor>(
            *shared, shared->catalog, loaded_atom_v, number,
            std::make_shared<const result<std::vector<loaded_model>>>(std::move(outcome)));
      },
      "whoever loaded the model ended");
  known.load = number;
  if (known.versions.empty())
    known.state = "LOADING";
  auto& under_way = books_->loads[number];
  under_way.name = asked->name;
  under_way.source = asked->source;
  under_way.waiters = {asked->done};
  const auto& storages = shared_->storages;
  if (!tell<storage_actor>(*shared_, storages[books_->next_storage++ % storages.size()],
                           load_atom_v, load_order_ptr{order}))
    abort(number, {errc::unavailable, "nobody loads models at the moment", 100});
}

void catalog_state::host(const load_request_ptr& asked) {
  auto& known = books_->models[asked->name];
  if (known.load != 0 || !known.versions.empty())
    return asked->done(fail(errc::already_exists, "model {}: the name is taken", asked->name));
  auto io = stage_io(asked->stage);
  auto root = shared_->stages->get<supervisor_actor>(shared_->supervisor);
  if (!io || !root) {
    books_->models.erase(asked->name);
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
            if (outcome.what) {
              books_->models.erase(asked->name);
              return asked->done(tl::unexpected<error>{*outcome.what});
            }
            auto& now = books_->models[asked->name];
            now.load = 0;
            now.versions = {made};
            now.state = "READY";
            now.source = "the program";
            announce(asked->name, now);
            asked->done({});
          },
          [=, this](caf::error&) {
            books_->models.erase(asked->name);
            asked->done(fail(errc::unavailable, "the system is stopping"));
          });
}

void catalog_state::unload(const load_request& asked) {
  const auto at = books_->models.find(asked.name);
  const bool loading = at != books_->models.end() && books_->loads.contains(at->second.load);
  if (at == books_->models.end() || (at->second.versions.empty() && !loading))
    return asked.done(fail(errc::not_found, "model {}: not loaded", asked.name));
  if (loading) // asked before this: it must not bring the model back
    abort(at->second.load, {errc::cancelled, "unloaded while it was being loaded"});
  tell<router_actor>(*shared_, shared_->router, retire_atom_v, model_name{asked.name, {}});
  for (const auto& one : std::exchange(at->second.versions, {}))
    retire(*one);
  at->second.state = "UNAVAILABLE";
  at->second.reason = "unloaded";
  asked.done({});
}

// Its batchers, or its stage, finish what they have and leave.
void catalog_state::retire(const served_model& old) {
  for (const auto& one : old.placements)
    tell<supervisor_actor>(*shared_, shared_->supervisor, halt_atom_v, one.entry);
}

catalog_actor::behavior_type catalog(catalog_actor::stateful_pointer<catalog_state> self,
                                     commons_ptr shared, std::vector<device_place> devices,
                                     model_source source, std::shared_ptr<catalog_books> books) {
  return self->state.make_behavior(std::move(shared), std::move(devices), std::move(source),
                                   std::move(books));
}

} // namespace troupe::actors
