#include "actors/simulation/replay.hpp"

#include "runtime/capture/reader.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace troupe::actors::simulation {

namespace {

constexpr std::size_t most_devices = 1024;

class gatherer {
public:
  result<captured> gather(std::istream& from);

private:
  void take(const capture::header& of) { made_.about = of; }
  void take(const capture::model& of);
  void take(const capture::shape_of_inputs&) {}
  void take(const capture::ask& of);
  void take(const capture::turned_away& of);
  void take(const capture::run& of);
  void take(const capture::end& of);
  void take(const capture::lost& of) { made_.lost += of.records; }
  void take(const capture::payloads_lost&) {}

  void place_turned_away();
  void drop_what_never_ran();
  void finish();
  [[nodiscard]] std::size_t shape_index(std::uint32_t number) {
    return shapes_.try_emplace(number, shapes_.size()).first->second;
  }

  captured made_;
  std::unordered_map<std::uint32_t, std::size_t> models_; ///< their places, by number
  std::unordered_map<std::uint32_t, std::size_t> shapes_;
  std::unordered_map<std::uint64_t, std::size_t> open_; ///< models of requests, by their numbers
  std::vector<capture::turned_away> turned_away_;
  std::shared_ptr<run_times> times_ = std::make_shared<run_times>();
};

// Loaded again, it has another number and perhaps other settings.
void gatherer::take(const capture::model& of) {
  auto at = std::find_if(made_.models.begin(), made_.models.end(), [&](const auto& known) {
    return known.name == of.name && known.version == of.version;
  });
  if (at == made_.models.end()) {
    at = made_.models.insert(at, of);
    made_.measured.models.push_back({.name = of.name, .version = of.version});
  } else {
    *at = of;
  }
  models_[of.number] = static_cast<std::size_t>(at - made_.models.begin());
}

void gatherer::take(const capture::ask& of) {
  const auto model = models_.find(of.model);
  if (model == models_.end())
    return;
  open_.emplace(of.number, model->second);
  ++made_.measured.models[model->second].asked;
  made_.arrivals.push_back(
      {.at = of.at,
       .model = model->second,
       .shape = shape_index(of.shape),
       .rows = of.rows,
       .priority = of.priority,
       .deadline = of.deadline > duration{0} ? std::optional{of.deadline} : std::nullopt,
       .bytes = of.bytes});
}

void gatherer::take(const capture::turned_away& of) {
  ++made_.turned_away;
  turned_away_.push_back(of);
}

void gatherer::take(const capture::run& of) {
  const auto model = models_.find(of.model);
  if (model == models_.end() || of.device >= made_.about.devices.size())
    return;
  times_->add(model->second, of.device, shape_index(of.shape), of.run_rows, of.took);
  auto& measured = made_.measured;
  ++measured.models[model->second].runs;
  measured.models[model->second].rows += of.rows;
  measured.devices[of.device].busy += of.took;
}

void gatherer::take(const capture::end& of) {
  const auto asked = open_.extract(of.number);
  if (asked.empty())
    return;
  count_answer(made_.measured.models[asked.mapped()], of.took, of.ok ? "" : of.code);
}

// Nobody knows what they asked for: the same as whoever came before them, the likeliest guess.
void gatherer::place_turned_away() {
  if (made_.arrivals.empty())
    return;
  std::vector<arrival> placed;
  for (const auto& one : turned_away_) {
    auto after = std::upper_bound(made_.arrivals.begin(), made_.arrivals.end(), one.at,
                                  [](duration at, const arrival& of) { return at < of.at; });
    auto like = after == made_.arrivals.begin() ? *after : *std::prev(after);
    like.at = one.at;
    like.bytes = one.bytes;
    placed.push_back(like);
    ++made_.measured.models[like.model].asked;
    ++made_.measured.models[like.model].refused;
  }
  made_.arrivals.insert(made_.arrivals.end(), placed.begin(), placed.end());
}

void gatherer::drop_what_never_ran() {
  made_.left_out = std::erase_if(made_.arrivals,
                                 [this](const arrival& one) { return !times_->knows(one.model); });
}

void gatherer::finish() {
  auto by_time = [](const arrival& a, const arrival& b) { return a.at < b.at; };
  std::stable_sort(made_.arrivals.begin(), made_.arrivals.end(), by_time);
  place_turned_away();
  std::stable_sort(made_.arrivals.begin(), made_.arrivals.end(), by_time);
  drop_what_never_ran();
  made_.times = times_;
  if (made_.arrivals.empty())
    return;
  made_.length = made_.arrivals.back().at - made_.arrivals.front().at;
  const auto first = made_.arrivals.front().at;
  for (auto& one : made_.arrivals)
    one.at -= first;
  made_.measured.span = made_.length;
  for (auto& one : made_.measured.models)
    std::sort(one.latencies.begin(), one.latencies.end());
}

result<captured> gatherer::gather(std::istream& from) {
  capture::reader records{from};
  for (;;) {
    auto next = records.next();
    if (!next)
      return propagate(std::move(next));
    if (!*next)
      break;
    if (const auto* about = std::get_if<capture::header>(&**next)) {
      if (about->devices.size() > most_devices)
        return fail(errc::invalid_argument, "expected at most {} devices, got {}", most_devices,
                    about->devices.size());
      for (const auto& one : about->devices)
        made_.measured.devices.push_back({one.name});
    }
    std::visit([this](const auto& one) { take(one); }, **next);
  }
  made_.cut_off = records.cut_off();
  finish();
  if (made_.arrivals.empty())
    return fail(errc::invalid_argument,
                "there is nothing to replay: no request came to a model of which a batch ran");
  return std::move(made_);
}

scene_model model_of(const captured& from, std::size_t index, const replay_options& with,
                     std::size_t devices) {
  const auto& of = from.models[index];
  scene_model made;
  made.name = of.name;
  made.version = of.version;
  made.max_batch = of.max_batch;
  made.settings.batching = with.policy ? *with.policy : of.policy;
  auto& policy = made.settings.batching;
  policy.objective = with.objective.value_or(of.policy.objective);
  policy.max_rows = std::min(policy.max_rows, std::max<std::int64_t>(of.max_batch, 1));
  policy.min_rows = std::min(policy.min_rows, policy.max_rows);
  made.objective = policy.objective;
  made.settings.priorities = of.priorities;
  made.settings.max_queue_rows = of.max_queue_rows;
  const auto were = from.about.devices.size();
  for (std::size_t i = 0; i < devices; ++i) {
    const auto like = i % were;
    const bool placed = std::find(of.devices.begin(), of.devices.end(), like) != of.devices.end();
    run_cost cost;
    if (placed && from.times->knows(index))
      cost = [times = from.times, index, like,
              dice = std::make_shared<std::mt19937_64>(with.seed + i)](std::size_t shape,
                                                                       std::int64_t rows) {
        return times->draw(index, like, shape, rows, *dice);
      };
    made.on.push_back(std::move(cost));
  }
  return made;
}

} // namespace

result<captured> read_capture(std::istream& from) {
  return gatherer{}.gather(from);
}

scenario scenario_of(const captured& from, const replay_options& with) {
  scenario made;
  const auto were = from.about.devices.size();
  const auto devices = with.devices > 0 ? with.devices : were;
  for (std::size_t i = 0; i < devices; ++i) {
    const auto& like = from.about.devices[i % were];
    made.devices.push_back(
        {i < were ? like.name : fmt::format("{} ({})", like.name, i + 1), like.tickets});
  }
  std::vector<std::size_t> places(from.models.size()); // of those that ran
  for (std::size_t i = 0; i < from.models.size(); ++i) {
    places[i] = made.models.size();
    auto model = model_of(from, i, with, devices);
    if (std::any_of(model.on.begin(), model.on.end(), [](const auto& cost) { return !!cost; }))
      made.models.push_back(std::move(model));
  }
  made.limits.max_requests = from.about.max_requests;
  made.limits.max_request_bytes = from.about.max_request_bytes;
  made.limits.default_deadline =
      std::chrono::ceil<std::chrono::milliseconds>(from.about.default_deadline);
  made.next = [&from, places, rate = with.rate,
               at = std::size_t{0}]() mutable -> std::optional<arrival> {
    if (at == from.arrivals.size())
      return std::nullopt;
    auto next = from.arrivals[at++];
    next.model = places[next.model];
    next.at = duration{static_cast<std::int64_t>(static_cast<double>(next.at.count()) / rate)};
    return next;
  };
  return made;
}

} // namespace troupe::actors::simulation
