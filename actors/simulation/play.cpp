#include "actors/hand_on.hpp"
#include "actors/simulation/scenario.hpp"
#include "actors/simulation/timed_model.hpp"
#include "actors/simulation/virtual_system.hpp"
#include "kernels/sim/sim_device.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::actors::simulation {

namespace {

// What callbacks write to while the scenario is played.
class stage_play {
public:
  explicit stage_play(const scenario& what) : what_(what) {
    for (const auto& one : what.models)
      made_.models.push_back({.name = one.name, .version = one.version});
    for (const auto& one : what.devices)
      made_.devices.push_back({one.name});
  }

  result<outcome> run();

private:
  void open_devices();
  result<void> load_models();
  result<void> load(const std::string& name);
  loaded_model version_of(std::size_t index);
  run_cost counted(std::size_t model, std::size_t device);
  void ask(const arrival& next);
  void answered(const arrival& of, time_point asked, const response_part& part);
  [[nodiscard]] bool counts(time_point at) const { return at >= begin_ + what_.counted_from; }

  const scenario& what_;
  outcome made_;
  virtual_system world_;
  std::vector<std::shared_ptr<device>> devices_;
  time_point begin_{};
  time_point last_arrival_ = time_point::max();
};

void stage_play::open_devices() {
  for (const auto& one : what_.devices)
    devices_.push_back(
        sim::make_sim_device({.name = one.name, .tickets = one.tickets, .time = world_.time()}));
}

run_cost stage_play::counted(std::size_t model, std::size_t device) {
  return [this, model, device](std::size_t shape, std::int64_t rows) {
    const auto takes = what_.models[model].on[device](shape, rows);
    if (counts(world_.now()) && world_.now() <= last_arrival_) {
      made_.devices[device].busy += takes;
      ++made_.models[model].runs;
    }
    return takes;
  };
}

loaded_model stage_play::version_of(std::size_t index) {
  const auto& from = what_.models[index];
  loaded_model made;
  made.version = from.version;
  made.settings = from.settings;
  made.terms = from.terms;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    made.on.push_back(from.on[i] ? make_timed_model(devices_[i], counted(index, i)) : nullptr);
  made.io = (*std::find_if(made.on.begin(), made.on.end(), [](auto& one) { return !!one; }))->io();
  made.io.max_batch_size = from.max_batch;
  return made;
}

result<void> stage_play::load(const std::string& name) {
  result<void> loaded = fail(errc::internal, "model {}: the load did not end", name);
  auto asked = std::make_shared<load_request>();
  asked->name = name;
  asked->load = [&]() -> result<std::vector<loaded_model>> {
    std::vector<loaded_model> versions;
    for (std::size_t i = 0; i < what_.models.size(); ++i)
      if (what_.models[i].name == name)
        versions.push_back(version_of(i));
    return versions;
  };
  asked->done = [&](result<void> outcome) { loaded = std::move(outcome); };
  tell<catalog_actor>(*world_.shared(), world_.shared()->catalog, load_atom_v,
                      load_request_ptr{asked});
  world_.run();
  return loaded;
}

result<void> stage_play::load_models() {
  std::vector<std::string> names;
  for (const auto& one : what_.models) {
    if (one.on.size() != devices_.size()
        || std::none_of(one.on.begin(), one.on.end(), [](const auto& cost) { return !!cost; }))
      return fail(errc::invalid_argument,
                  "model {}: expected a cost on at least one of {} devices, got {} entries",
                  one.name, devices_.size(), one.on.size());
    if (std::find(names.begin(), names.end(), one.name) == names.end())
      names.push_back(one.name);
  }
  for (const auto& name : names)
    if (auto loaded = load(name); !loaded)
      return loaded;
  return {};
}

void stage_play::ask(const arrival& next) {
  const auto& shared = world_.shared();
  const auto& model = what_.models[next.model];
  const auto now = world_.now();
  if (counts(now))
    ++made_.models[next.model].asked;
  auto units = shared->budget->admit(next.bytes);
  if (!units)
    return answered(next, now, propagate(std::move(units)));
  inference_request request;
  request.model_name = model.name;
  request.model_version = model.version;
  request.priority = next.priority;
  request.inputs.push_back({"x", timed_input(next.shape, next.rows), {}});
  if (next.deadline)
    request.deadline = now + *next.deadline;
  const auto deadline = request.deadline.value_or(now + shared->default_deadline);
  auto asked = job::impl::make(
      std::move(request),
      [this, next, now](const response_part& part, bool) { answered(next, now, part); },
      std::make_shared<shared_units>(std::move(*units)), shared->live, deadline);
  hand_on(*shared, shared->router, asked);
}

void stage_play::answered(const arrival& of, time_point asked, const response_part& part) {
  auto& to = made_.models[of.model];
  const auto now = world_.now();
  const auto took = now - asked;
  const auto objective = what_.models[of.model].objective;
  const bool in_time = objective <= duration{0} || took <= objective;
  if (part && counts(now) && now <= last_arrival_) {
    to.rows += of.rows;
    to.rows_in_time += in_time ? of.rows : 0;
  }
  if (!counts(asked))
    return;
  to.in_time += part && in_time ? 1 : 0;
  count_answer(to, took, part ? std::string_view{} : to_string(part.error().code));
}

result<outcome> stage_play::run() {
  open_devices();
  system_parts parts;
  parts.with = what_.limits;
  parts.devices = devices_;
  world_.start(parts);
  if (auto ok = load_models(); !ok)
    return propagate(std::move(ok));
  begin_ = world_.now();
  auto last = begin_;
  while (const auto next = what_.next()) {
    if (next->model >= what_.models.size() || next->rows < 1)
      return fail(errc::invalid_argument, "an arrival of model {} with {} rows", next->model,
                  next->rows);
    last = std::max(last, begin_ + next->at);
    world_.run_until(last);
    ask(*next);
  }
  world_.run();
  last_arrival_ = last;
  while (world_.shared()->live->count() > 0) {
    const auto at = world_.next();
    if (!at)
      return fail(errc::internal, "the simulation stands still with requests unanswered");
    world_.run_until(*at);
  }
  made_.span = std::max(last - begin_ - what_.counted_from, duration{0});
  for (auto& one : made_.models)
    std::sort(one.latencies.begin(), one.latencies.end());
  return std::move(made_);
}

} // namespace

duration model_outcome::quantile(double q) const {
  if (latencies.empty())
    return duration{0};
  const auto last = latencies.size() - 1;
  return latencies[std::min(last, static_cast<std::size_t>(q * static_cast<double>(last) + 0.5))];
}

duration model_outcome::mean() const {
  if (latencies.empty())
    return duration{0};
  return std::accumulate(latencies.begin(), latencies.end(), duration{0})
         / static_cast<std::int64_t>(latencies.size());
}

// A refusal comes at once, an answer that is too late does not.
void count_answer(model_outcome& to, duration took, std::string_view code) {
  constexpr std::chrono::milliseconds at_once{1};
  if (code.empty()) {
    ++to.answered;
    to.latencies.push_back(took);
  } else if (code == to_string(errc::resource_exhausted)
             || (code == to_string(errc::deadline_exceeded) && took < at_once)) {
    ++to.refused;
  } else if (code == to_string(errc::deadline_exceeded) || code == to_string(errc::unavailable)) {
    ++to.expired;
  } else {
    ++to.failed;
  }
}

result<outcome> play(const scenario& what) {
  return stage_play{what}.run();
}

} // namespace troupe::actors::simulation
