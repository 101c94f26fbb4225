#include "actors/router_actor.hpp"

#include "actors/check_request.hpp"
#include "actors/hand_on.hpp"
#include "runtime/placement/routing.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

router_actor::behavior_type router_state::make_behavior(commons_ptr shared, bool load_on_miss,
                                                        bool complete) {
  shared_ = std::move(shared);
  load_on_miss_ = load_on_miss;
  complete_ = complete;
  log_exceptions(self_, name);
  return {
      [this](submit_atom, const job_ptr& asked) { submit(asked); },
      [this](publish_atom, const model_ptr& served) { publish(served); },
      [this](retire_atom, const model_name& gone) { retire(gone); },
      [this](loaded_atom, const model_name& tried, const failure& outcome) {
        loaded(tried, outcome);
      },
      [this](up_atom) { up(); },
  };
}

void router_state::submit(const job_ptr& asked) {
  guarded(name, asked, [&] { complete_ ? route(asked) : early_.push_back(asked); });
}

void router_state::up() {
  complete_ = true;
  for (const auto& asked : std::exchange(early_, {}))
    submit(asked);
}

void router_state::route(const job_ptr& asked) {
  if (!asked->model) {
    auto found = find(asked->request);
    if (!found && found.error().code == errc::not_found && load_on_miss_
        && !routes_.contains(asked->request.model_name))
      return miss(asked);
    if (!found) {
      asked->answer(propagate(std::move(found)));
      return;
    }
    asked->resolve(std::move(*found));
  }
  const auto checked = check_request(*asked);
  if (!checked) {
    asked->answer(propagate(checked));
    return;
  }
  const auto& placements = asked->model->placements;
  std::vector<const placement::load*> loads;
  for (const auto& one : placements)
    loads.push_back(one.load.get());
  asked->where = &placements[placement::earliest(loads, asked->rows, shared_->clock->now())];
  hand_on(*shared_, checked->needs_preprocess ? shared_->preprocess : asked->where->entry, asked);
}

// Those who ask for a model while it loads wait here; admission bounds how many they are.
void router_state::miss(const job_ptr& asked) {
  const auto& wanted = asked->request.model_name;
  auto& waiting = waiting_[wanted];
  waiting.push_back(asked);
  if (waiting.size() > 1)
    return;
  auto order = std::make_shared<load_request>();
  order->name = wanted;
  order->done = [shared = shared_, wanted](result<void> outcome) {
    tell<router_actor>(*shared, shared->router, loaded_atom_v, model_name{wanted, {}},
                       failure{outcome ? std::nullopt : std::optional{outcome.error()}});
  };
  if (!tell<catalog_actor>(*shared_, shared_->catalog, load_atom_v, load_request_ptr{order}))
    loaded({wanted, {}}, {error{errc::unavailable, "no catalog at the moment", 100}});
}

void router_state::loaded(const model_name& tried, const failure& outcome) {
  const auto waiting = waiting_.extract(tried.name);
  if (waiting.empty())
    return;
  for (const auto& asked : waiting.mapped()) {
    if (outcome.what)
      asked->answer(tl::unexpected<error>{*outcome.what});
    else
      guarded(name, asked, [&] { route(asked); });
  }
}

result<model_ptr> router_state::find(const inference_request& request) const {
  const auto at = routes_.find(request.model_name);
  if (at == routes_.end())
    return fail(errc::not_found, "model {}: not found", request.model_name);
  std::vector<std::string> versions;
  for (const auto& one : at->second)
    versions.push_back(one->version);
  const auto chosen = placement::choose_version(versions, request.model_version);
  if (!chosen)
    return fail(errc::not_found, "model {}: no version {}; served are: {}", request.model_name,
                request.model_version, fmt::join(versions, ", "));
  return at->second[*chosen];
}

void router_state::publish(const model_ptr& served) {
  auto& versions = routes_[served->name];
  std::erase_if(versions, [&](const auto& one) { return one->version == served->version; });
  versions.push_back(served);
}

void router_state::retire(const model_name& gone) {
  const auto at = routes_.find(gone.name);
  if (at == routes_.end())
    return;
  if (!gone.version.empty())
    std::erase_if(at->second, [&](const auto& one) { return one->version == gone.version; });
  if (gone.version.empty() || at->second.empty())
    routes_.erase(at);
}

router_actor::behavior_type router(router_actor::stateful_pointer<router_state> self,
                                   commons_ptr shared, bool load_on_miss, bool complete) {
  return self->state.make_behavior(std::move(shared), load_on_miss, complete);
}

} // namespace troupe::actors
