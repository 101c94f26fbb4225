// The load of a pipeline: the models it calls are loaded where they are not there, then it is
// compiled against what they take and give, hosted and published.

#include "actors/catalog_actor.hpp"

#include "actors/hand_on.hpp"
#include "actors/pipeline_stage.hpp"
#include "actors/request_lengths.hpp"
#include "runtime/pipeline/plan.hpp"

#include <algorithm>
#include <set>

namespace troupe::actors {

namespace {

// The first step that calls a model, for errors.
std::string step_of(const pipeline::definition& of, const std::string& model) {
  const auto at = std::find_if(of.steps.begin(), of.steps.end(),
                               [&](const auto& one) { return one.model == model; });
  return fmt::format("{}: step \"{}\"", of.origin, at == of.steps.end() ? model : at->name);
}

} // namespace

void catalog_state::compose(std::uint64_t number, const loaded_model& made) {
  auto& under_way = books_->loads[number];
  under_way.composed = made.composed;
  under_way.version = made.version;
  const auto own = under_way.name;
  const auto& declared = made.composed->declared;
  const auto models = pipeline::models_of(declared);
  for (const auto& model : models)
    if (depends(model, own))
      return abort(number,
                   {errc::invalid_argument, fmt::format("{}: model {} calls {} in turn",
                                                        step_of(declared, model), model, own)});
  for (const auto& [model, part] : made.composed->brings) {
    const auto source = source_of(model);
    if (source && *source != part.source)
      return abort(number, {errc::already_exists,
                            fmt::format("{}: model {} is served already, from {}", declared.origin,
                                        model, source->empty() ? "the repository" : *source)});
  }
  std::vector<std::string> missing;
  for (const auto& model : models)
    if (const auto known = books_->models.find(model);
        known == books_->models.end() || known->second.versions.empty())
      missing.push_back(model);
  under_way.missing = missing.size() + 1; // none is the last before all have been called for
  for (const auto& model : missing)
    call_for(number, model);
  needed(number);
}

// Where a model comes from that is served or on its way.
std::optional<std::string> catalog_state::source_of(const std::string& model) const {
  const auto known = books_->models.find(model);
  if (known == books_->models.end())
    return {};
  const auto load = books_->loads.find(known->second.load);
  if (load != books_->loads.end())
    return load->second.source;
  return known->second.versions.empty() ? std::nullopt : std::optional{known->second.source};
}

void catalog_state::call_for(std::uint64_t number, const std::string& model) {
  const auto& composed = *books_->loads[number].composed;
  auto asked = std::make_shared<load_request>();
  asked->name = model;
  if (const auto at = composed.brings.find(model); at != composed.brings.end()) {
    asked->load = at->second.load;
    asked->source = at->second.source;
  }
  asked->done = [shared = shared_, number,
                 label = step_of(composed.declared, model)](const result<void>& outcome) {
    failure said;
    if (!outcome) {
      said.what = outcome.error();
      said.what->text = fmt::format("{}: {}", label, outcome.error().text);
    }
    tell<catalog_actor>(*shared, shared->catalog, needed_atom_v, number, std::move(said));
  };
  begin(asked);
}

void catalog_state::needed(std::uint64_t number) {
  const auto at = books_->loads.find(number);
  if (at != books_->loads.end() && --at->second.missing == 0)
    host_composed(number);
}

void catalog_state::host_composed(std::uint64_t number) {
  auto& under_way = books_->loads[number];
  const auto& declared = under_way.composed->declared;
  const auto plan = pipeline::compile(
      declared, [this](const std::string& model, const std::string& version) -> result<signature> {
        auto found = find({model, version});
        if (!found)
          return propagate(std::move(found));
        auto io = (*found)->io;
        for (std::size_t i = 0; i < io.inputs.size(); ++i)
          io.inputs[i].optional = io.inputs[i].optional || is_mask(**found, i);
        return io;
      });
  if (!plan)
    return abort(number, plan.error());
  for (const auto& note : (*plan)->notes)
    spdlog::info("model {}: {}", under_way.name, note);
  auto root = shared_->stages->get<supervisor_actor>(shared_->supervisor);
  if (!root)
    return abort(number, {errc::unavailable, "the system is stopping", 100});
  auto made = std::make_shared<served_model>();
  made->name = under_way.name;
  made->version = under_way.version;
  made->platform = declared.platform;
  made->io = (*plan)->io;
  made->needs = pipeline::models_of(declared);
  made->placements.emplace_back().entry = shared_->stages->fresh_id();
  auto order = std::make_shared<stage_order>();
  order->id = made->placements.front().entry;
  order->name = made->name;
  order->make = [plan = *plan] { return std::make_unique<pipeline_stage>(plan); };
  under_way.steps.push_back({std::move(made), 0, 0, {}, 0});
  self_->request(root, caf::infinite, host_atom_v, stage_order_ptr{order})
      .then(
          [this, number](const failure& outcome) {
            if (outcome.what)
              return abort(number, *outcome.what);
            if (books_->loads.contains(number)) // not given up meanwhile
              publish(number);
          },
          [this, number](caf::error&) {
            abort(number, {errc::unavailable, "the system is stopping", 100});
          });
}

// Whether a model calls another one, by whatever it calls in turn, now or once it is loaded.
bool catalog_state::depends(const std::string& who, const std::string& on) const {
  std::set<std::string> seen;
  std::vector<std::string> open{who};
  while (!open.empty()) {
    const auto one = std::move(open.back());
    open.pop_back();
    if (one == on)
      return true;
    const auto known = books_->models.find(one);
    if (!seen.insert(one).second || known == books_->models.end())
      continue;
    for (const auto& version : known->second.versions)
      open.insert(open.end(), version->needs.begin(), version->needs.end());
    const auto load = books_->loads.find(known->second.load);
    if (load != books_->loads.end() && load->second.composed)
      for (auto& needs : pipeline::models_of(load->second.composed->declared))
        open.push_back(std::move(needs));
  }
  return false;
}

// A model that the pipeline calls, itself or by another one, and that is not served; empty: none.
std::string catalog_state::missing_for(const served_model& of) const {
  for (const auto& one : of.needs) {
    const auto known = books_->models.find(one);
    if (known == books_->models.end() || known->second.versions.empty())
      return one;
    for (const auto& version : known->second.versions)
      if (auto missing = missing_for(*version); !missing.empty())
        return missing;
  }
  return {};
}

} // namespace troupe::actors
