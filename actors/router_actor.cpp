#include "actors/router_actor.hpp"

#include "actors/check_request.hpp"
#include "actors/hand_on.hpp"
#include "actors/sequence_request.hpp"
#include "runtime/placement/routing.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace troupe::actors {

namespace {

// A label comes as the version or, where the wire has only numbers there, as a parameter.
std::string_view wanted_version(const inference_request& request) {
  if (!request.model_version.empty())
    return request.model_version;
  const auto at = request.parameters.find("version_label");
  if (at == request.parameters.end())
    return {};
  const auto* label = std::get_if<std::string>(&at->second);
  return label ? std::string_view{*label} : std::string_view{};
}

} // namespace

router_actor::behavior_type router_state::make_behavior(commons_ptr shared, bool load_on_miss,
                                                        bool complete) {
  shared_ = std::move(shared);
  load_on_miss_ = load_on_miss;
  complete_ = complete;
  log_exceptions(self_, name);
  return {
      [this](submit_atom, const job_ptr& asked) { submit(asked); },
      [this](publish_atom, const routes_ptr& served) { publish(served); },
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
    auto found = version_for(asked->request);
    if (!found && found.error().code == errc::not_found && load_on_miss_
        && !routes_.contains(asked->request.model_name))
      return miss(asked);
    if (!found) {
      if (asked->detours > 0) // it was accepted when its version was still there
        asked->fail_with(errc::unavailable, found.error().text, 100);
      else
        asked->answer(propagate(std::move(found)));
      return;
    }
    asked->resolve(std::move(*found));
    // Where a request may say how long it waits, its time is for the queue, not for the answer.
    const auto& rules = asked->model->settings.priorities;
    if (asked->request.deadline
        && rules.policy_of(rules.level_of(asked->request.priority)).allow_override)
      asked->extend(std::max(asked->deadline, asked->at.accepted + shared_->default_deadline));
  }
  const auto checked = check_request(*asked);
  if (!checked) {
    asked->answer(propagate(checked));
    return;
  }
  if (!asked->model->fit()) {
    asked->fail_with(errc::unavailable,
                     fmt::format("model {}: none of its devices is fit for work at the moment",
                                 asked->model->name),
                     1000);
    return;
  }
  if (asked->step) {
    if (auto found = place_step(*asked); !found) {
      asked->answer(propagate(std::move(found)));
      return;
    }
  } else {
    asked->where = &place(*asked);
  }
  if (asked->where->device != 0)
    asked->on_way = placement::heading{asked->where->load, asked->rows};
  hand_on(*shared_, checked->needs_preprocess ? shared_->preprocess : asked->where->entry, asked);
}

// The placement that answers first among those whose batcher stands; for a new sequence, of those
// the ones that have a slot for it.
const placed& router_state::place(const job::impl& asked) const {
  const auto& placements = asked.model->placements;
  if (placements.size() == 1)
    return placements.front();
  std::vector<const placement::load*> loads;
  std::vector<const placed*> standing;
  auto consider = [&](auto fits) {
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (stands(placements[i]) && fits(i)) {
        loads.push_back(placements[i].load.get());
        standing.push_back(&placements[i]);
      }
  };
  if (asked.step)
    consider([&](std::size_t i) {
      return placements[i].load->up() && asked.model->homes->size_at(i) < slots_at(*asked.model, i);
    });
  if (standing.empty())
    consider([](std::size_t) { return true; });
  if (standing.empty())
    return placements.front();
  return *standing[placement::earliest(loads, asked.key.hash(), asked.rows, shared_->clock->now())];
}

// Steps that come from now on are of the sequence that begins, and of no other of its name.
void router_state::forget_in_other_versions(const job::impl& asked) const {
  for (const auto& one : stateful_versions(asked.model->name))
    if (one != asked.model)
      one->homes->forget(asked.step->id);
}

bool router_state::stands(const placed& one) const {
  return one.fit() && shared_->stages->holds(one.entry);
}

// A step goes where its sequence lives. A start under the id of a live one comes behind that,
// unless nothing moves there.
result<void> router_state::place_step(job::impl& asked) const {
  const auto& placements = asked.model->placements;
  if (!asked.step->start) {
    const auto home = home_of(asked);
    if (!home)
      return propagate(home);
    asked.where = &placements[*home];
    return {};
  }
  const auto before = asked.model->homes->find(asked.step->id);
  const auto stays =
      before && stands(placements[before->placement]) && placements[before->placement].load->up();
  forget_in_other_versions(asked);
  asked.where = stays ? &placements[before->placement] : &place(asked);
  enter_sequence(asked, static_cast<std::size_t>(asked.where - placements.data()));
  return {};
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

result<model_ptr> router_state::find(const inference_request& request) {
  const auto at = routes_.find(request.model_name);
  if (at == routes_.end())
    return fail(errc::not_found, "model {}: not found", request.model_name);
  auto& [routes, chooser] = at->second;
  const auto asked = wanted_version(request);
  const auto chosen = chooser.next(asked);
  if (!chosen)
    return fail(errc::not_found, "model {}: no version {}; served are: {}", request.model_name,
                asked, fmt::join(chooser.versions(), ", "));
  return routes->versions[*chosen];
}

// A sequence goes on with the version that it began with, also while that is being replaced.
result<model_ptr> router_state::version_for(const inference_request& request) {
  auto began_with = version_of_sequence(request);
  return began_with ? began_with : find(request);
}

model_ptr router_state::version_of_sequence(const inference_request& request) const {
  const auto id = sequence_id_of(request);
  if (!id || starts_sequence(request))
    return nullptr;
  const auto wanted = wanted_version(request);
  for (auto& one : stateful_versions(request.model_name))
    if (one->homes->find(*id) && (wanted.empty() || wanted == one->version))
      return std::move(one);
  return nullptr;
}

// Those that are served, then those that were, the latest first.
std::vector<model_ptr> router_state::stateful_versions(const std::string& model) const {
  std::vector<model_ptr> found;
  const auto add = [&](model_ptr one) {
    if (one && one->homes)
      found.push_back(std::move(one));
  };
  if (const auto at = routes_.find(model); at != routes_.end())
    for (const auto& one : at->second.routes->versions)
      add(one);
  if (const auto at = former_.find(model); at != former_.end())
    for (auto one = at->second.rbegin(); one != at->second.rend(); ++one)
      add(one->lock());
  return found;
}

// Versions whose sequences go on are kept by their batchers, as long as there are any.
void router_state::publish(const routes_ptr& served) {
  auto& former = former_[served->name];
  if (const auto at = routes_.find(served->name); at != routes_.end())
    for (const auto& one : at->second.routes->versions)
      if (one->homes && one->homes->size() > 0)
        former.push_back(one);
  std::erase_if(former, [](const auto& one) { return one.expired(); });
  if (former.empty())
    former_.erase(served->name);
  std::vector<std::string> versions;
  for (const auto& one : served->versions)
    versions.push_back(one->version);
  routes_.insert_or_assign(
      served->name,
      table_entry{served, placement::version_chooser{std::move(versions), served->rules}});
}

void router_state::retire(const model_name& gone) {
  routes_.erase(gone.name);
  former_.erase(gone.name);
}

router_actor::behavior_type router(router_actor::stateful_pointer<router_state> self,
                                   commons_ptr shared, bool load_on_miss, bool complete) {
  return self->state.make_behavior(std::move(shared), load_on_miss, complete);
}

} // namespace troupe::actors
