#include "actors/job.hpp"

#include "actors/capture_recorder.hpp"
#include "actors/sequence_step.hpp"
#include "actors/served_model.hpp"

#include <spdlog/spdlog.h>

namespace troupe {

namespace actors {

bool shared_units::join() noexcept {
  auto seen = users_.load();
  while (seen > 0)
    if (users_.compare_exchange_weak(seen, seen + 1))
      return true;
  return false;
}

void shared_units::drop() noexcept {
  if (users_.fetch_sub(1) == 1)
    held_ = {};
}

} // namespace actors

job::impl::impl(inference_request asked, part_fn answer_to,
                std::shared_ptr<actors::shared_units> with,
                std::shared_ptr<actors::live_jobs> entered, time_point expires,
                std::shared_ptr<const impl> of)
    : parent(std::move(of)), units(std::move(with)), registry(std::move(entered)),
      deadline(expires), request(std::move(asked)), answer_to_(std::move(answer_to)) {
  at.accepted = registry->now();
  if (parent)
    parent->has_children_ = true;
  link_.owner = this;
  link_.deadline = deadline;
}

std::shared_ptr<job::impl> job::impl::make(inference_request asked, part_fn answer_to,
                                           std::shared_ptr<actors::shared_units> units,
                                           std::shared_ptr<actors::live_jobs> registry,
                                           time_point expires, std::shared_ptr<const impl> parent) {
  auto made = std::make_shared<impl>(std::move(asked), std::move(answer_to), std::move(units),
                                     std::move(registry), expires, std::move(parent));
  made->registry->enter(made->link_);
  return made;
}

job::impl::~impl() {
  answer_dropped("the request was dropped on its way");
  registry->leave(link_);
}

void job::impl::answer_dropped(const char* how) {
  if (answered_)
    return;
  if (registry->closed())
    fail_with(errc::unavailable, "the server shut down before the request was answered", 1000);
  else if (where && at.queued == time_point{}) // on its way to somebody who has just left
    fail_with(errc::unavailable, "the model is being replaced or restarted", 100);
  else
    fail_with(errc::internal, how);
}

bool job::impl::answer(response_part part) {
  if (answered_.exchange(true))
    return false;
  const auto now = registry->now();
  if (auto* numbers = probe_.load(std::memory_order_acquire); numbers && !internal) {
    if (part)
      numbers->answered(rows, spent(now));
    else
      numbers->failed(now - at.accepted);
  }
  if (const auto number = captured.load())
    registry->recorder()->ended(
        {.number = number,
         .ok = part.has_value(),
         .code = part ? std::string{} : std::string{to_string(part.error().code)},
         .took = now - at.accepted});
  registry->leave(link_);
  if (units)
    units->drop();
  const auto to = std::exchange(answer_to_, nullptr);
  try {
    if (to)
      to(std::move(part), true);
  } catch (const std::exception& thrown) { // a callback's fault must not end the stage that answers
    spdlog::error("answering a request: {}", thrown.what());
  }
  return true;
}

telemetry::request_times job::impl::spent(time_point now) const noexcept {
  telemetry::request_times times{.whole = now - at.accepted};
  if (at.ended == time_point{})
    return times; // answered by a stage, not by a device
  times.queue = at.input - at.queued;
  times.input = at.started - at.input;
  times.infer = at.ended - at.started;
  times.output = now - at.ended;
  return times;
}

void job::impl::resolve(std::shared_ptr<const actors::served_model> served) {
  model = std::move(served);
  probe_.store(model->probe.get(), std::memory_order_release);
}

void job::impl::extend(time_point later) {
  deadline = later;
  registry->extend(link_, later);
}

void job::impl::unresolve() {
  where = nullptr;
  on_way = {};
  step = nullptr;
  former_.push_back(std::exchange(model, nullptr));
}

job::job(std::shared_ptr<impl> held) : held_(std::move(held)) {}
job::job(job&&) noexcept = default;

job& job::operator=(job&& other) noexcept {
  std::swap(held_, other.held_);
  return *this;
}

job::~job() {
  if (held_)
    held_->answer_dropped("a stage dropped the request without an answer");
}

const inference_request& job::request() const noexcept {
  return held_->request;
}

inference_request& job::request() noexcept {
  return held_->request;
}

bool job::cancelled() const noexcept {
  return held_->over() || held_->registry->now() >= held_->deadline;
}

void job::reply(inference_response answer) {
  if (answer.model_name.empty() && held_->model) {
    answer.model_name = held_->model->name;
    answer.model_version = held_->model->version;
  }
  answer.id = held_->request.id;
  held_->answer(std::move(answer));
}

void job::fail(error why) {
  held_->answer(tl::unexpected<error>{std::move(why)});
}

} // namespace troupe
