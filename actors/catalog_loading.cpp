// The steps of a load, one after the other: what storage made is placed on every device, warmed up
// and published, or all of it is taken back.

#include "actors/catalog_actor.hpp"

#include "actors/capturing.hpp"
#include "actors/check_request.hpp"
#include "actors/hand_on.hpp"
#include "actors/sequence_request.hpp"

namespace troupe::actors {

namespace {

// The warm-up of a stateful model is a sequence of one step.
result<void> begin_alone(job::impl& asked, std::size_t placement) {
  auto& said = asked.request.parameters;
  said = {
      {"sequence_id", std::string{"warm-up"}}, {"sequence_start", true}, {"sequence_end", true}};
  if (asked.model->settings.sequences->id)
    said.insert_or_assign("sequence_id", std::int64_t{1});
  if (auto ok = check_request(asked); !ok)
    return propagate(std::move(ok));
  enter_sequence(asked, placement);
  return {};
}

} // namespace

void catalog_state::loaded(std::uint64_t number, const result<std::vector<loaded_model>>& outcome) {
  const auto at = books_->loads.find(number);
  if (at == books_->loads.end())
    return;
  if (!outcome)
    return abort(number, outcome.error());
  if (!outcome->empty() && outcome->front().composed)
    return compose(number, outcome->front());
  for (const auto& version : *outcome) {
    at->second.rules = version.rules;
    auto made = std::make_shared<served_model>();
    made->name = at->second.name;
    made->version = version.version;
    made->platform = "onnx";
    made->io = version.io;
    made->settings = version.settings;
    made->properties = version.properties;
    if (made->settings.sequences)
      made->homes = std::make_shared<sequences::homes>();
    for (std::size_t i = 0; i < version.on.size(); ++i) {
      if (!version.on[i])
        continue;
      const bool shares = i < version.shares_weights.size() && version.shares_weights[i];
      at->second.steps.push_back(
          {made, made->placements.size(), i, version.warm_up, shares ? 0 : version.weight_bytes});
      auto& one = made->placements.emplace_back();
      one.entry = shared_->stages->fresh_id();
      one.device = devices_[i].device;
      one.memory = devices_[i].memory;
      one.health = devices_[i].health;
      one.runs = version.on[i];
      one.load = std::make_shared<placement::load>(devices_[i].load);
      if (i < version.terms.size())
        one.terms = version.terms[i];
      for (const auto& need : one.terms.resources)
        shared_->resources->provide(need);
    }
    if (const auto& recorder = shared_->live->recorder())
      made->captured_as = recorder->add_model(as_captured(*made, *shared_));
  }
  place(number);
}

// A placement: weights are booked, then its batcher is spawned, then it is warmed up.
void catalog_state::place(std::uint64_t number) {
  const auto& under_way = books_->loads[number];
  if (under_way.at == under_way.steps.size())
    return publish(number);
  const auto& step = under_way.steps[under_way.at];
  const auto memory_id = devices_[step.device].memory;
  auto memory = shared_->stages->get<memory_actor>(memory_id);
  auto root = shared_->stages->get<supervisor_actor>(shared_->supervisor);
  if (!memory || !root)
    return abort(number, {errc::unavailable, "the system is stopping", 100});
  auto gone = [this, number](caf::error&) {
    abort(number, {errc::unavailable, "an actor ended while the model was loading", 100});
  };
  auto order = std::make_shared<place_order>();
  order->model = step.model;
  order->where = &step.model->placements[step.placement];
  self_
      ->request(memory, caf::infinite, reserve_atom_v,
                static_cast<std::uint64_t>(step.weight_bytes))
      .then(
          [=, this, model = step.model, at = step.placement](const reserved& granted) {
            if (!granted.bytes)
              return refused(number, granted.bytes.error());
            if (!books_->loads.contains(number)) // given up meanwhile
              return;
            books_->loads[number].refused = 0;
            model->placements[at].weights = *granted.bytes;
            self_->request(root, caf::infinite, place_atom_v, place_order_ptr{order})
                .then([=, this](const failure& outcome) { placed_one(number, outcome); }, gone);
          },
          gone);
}

// Blocks that are lent come back, and what the device keeps it has been asked for: worth a second.
void catalog_state::refused(std::uint64_t number, const error& why) {
  constexpr int enough = 50;
  const auto at = books_->loads.find(number);
  if (at == books_->loads.end())
    return;
  if (why.retry_after_ms == 0 || ++at->second.refused == enough)
    return abort(number, why);
  self_->delayed_send(self_, std::chrono::milliseconds{why.retry_after_ms}, warmed_atom_v, number,
                      failure{});
}

void catalog_state::go_on(std::uint64_t number, const failure& outcome) {
  const auto at = books_->loads.find(number);
  if (outcome.what)
    abort(number, *outcome.what);
  else if (at != books_->loads.end() && at->second.refused > 0)
    place(number);
  else
    warm(number);
}

void catalog_state::placed_one(std::uint64_t number, const failure& outcome) {
  if (outcome.what)
    return abort(number, *outcome.what);
  if (const auto at = books_->loads.find(number); at != books_->loads.end())
    at->second.warmed = 0;
  warm(number);
}

// A warm-up is a request like any other, except that it does not count.
void catalog_state::warm(std::uint64_t number) {
  const auto at = books_->loads.find(number);
  if (at == books_->loads.end())
    return;
  auto& under_way = at->second;
  const auto& step = under_way.steps[under_way.at];
  // A device that is not fit is not waited for.
  if (under_way.warmed == step.warm_up.size() || !step.model->placements[step.placement].fit()) {
    ++under_way.at;
    return place(number);
  }
  const auto& inputs = step.warm_up[under_way.warmed++];
  inference_request request;
  request.model_name = step.model->name;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!step.model->io.inputs[i].internal)
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
  if (step.model->settings.sequences) {
    if (auto ok = begin_alone(*asked, step.placement); !ok) {
      asked->answer(propagate(std::move(ok)));
      return;
    }
  } else {
    for (const auto& input : asked->request.inputs)
      asked->key.add(input.value.type, input.value.dims, step.model->io.max_batch_size > 0);
    if (step.model->io.max_batch_size > 0)
      asked->rows = inputs.empty() || inputs[0].dims.empty() ? 1 : inputs[0].dims[0];
  }
  hand_on(*shared_, asked->where->entry, asked);
}

void catalog_state::publish(std::uint64_t number) {
  const auto done = books_->loads.extract(number);
  auto& known = books_->models[done.mapped().name];
  auto old = std::exchange(known.versions, {});
  for (const auto& step : done.mapped().steps)
    if (step.placement == 0)
      known.versions.push_back(step.model);
  known.rules = std::move(done.mapped().rules);
  announce(done.mapped().name, known);
  for (const auto& one : old)
    retire(*one);
  known.source = std::move(done.mapped().source);
  known.load = 0;
  known.state = "READY";
  known.reason.clear();
  for (const auto& waiter : done.mapped().waiters)
    waiter({});
}

void catalog_state::abort(std::uint64_t number, const error& why) {
  const auto failed = books_->loads.extract(number);
  if (failed.empty())
    return;
  spdlog::error("model {}: not loaded: {}", failed.mapped().name, why.text);
  const auto& steps = failed.mapped().steps;
  for (std::size_t i = 0; i < steps.size() && i <= failed.mapped().at; ++i)
    tell<supervisor_actor>(*shared_, shared_->supervisor, halt_atom_v,
                           steps[i].model->placements[steps[i].placement].entry);
  auto& known = books_->models[failed.mapped().name];
  known.load = 0;
  if (known.versions.empty())
    known.state = "UNAVAILABLE";
  known.reason = why.text;
  for (const auto& waiter : failed.mapped().waiters)
    waiter(tl::unexpected<error>{why});
}

} // namespace troupe::actors
