#include "actors/system.hpp"

#include "actors/answer_once.hpp"
#include "actors/capture_recorder.hpp"
#include "actors/hand_on.hpp"
#include "actors/ingress_actor.hpp"
#include "actors/wiring.hpp"
#include "actors/worker_policy.hpp"

#include <boost/asio/post.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <set> // for the header below
#include <thread>

#include <caf/scheduler/coordinator.hpp>

namespace troupe::actors {

namespace {

class pending_call final : public protocol::call {
public:
  pending_call(commons_ptr shared, std::weak_ptr<job::impl> of)
      : shared_(std::move(shared)), of_(std::move(of)) {}

  void cancel() noexcept override {
    const auto held = of_.lock();
    if (!held || held->answered())
      return;
    held->cancel();
    try {
      tell<watchdog_actor>(*shared_, shared_->watchdog, cancel_atom_v, held);
    } catch (const std::exception& thrown) { // no memory: the flag alone ends it, a little later
      spdlog::warn("cancelling a request: {}", thrown.what());
    }
  }

private:
  commons_ptr shared_;
  std::weak_ptr<job::impl> of_; // strong, it would keep a dropped job from answering
};

caf::actor_system_config& configured(caf::actor_system_config& config, const options& with) {
  config.load<caf::scheduler::coordinator<worker_policy>>();
  config.set("scheduler.max-threads", std::max(1, with.scheduler_threads));
  config.set("scheduler.max-throughput", 64);
  return config;
}

unsigned cores() noexcept {
  return std::max(1u, std::thread::hardware_concurrency());
}

result<void> fixed_models() {
  return fail(errc::failed_precondition,
              "the server's models are fixed: it runs with --model-control-mode none");
}

} // namespace

system::system(system_parts parts)
    : offload_(cores()), clients_may_load_(parts.with.clients_may_load) {
  shared_->offload = [this](std::function<void()> work) {
    boost::asio::post(offload_, std::move(work));
  };
  actors_ = std::make_unique<caf::actor_system>(configured(config_, parts.with));
  supervisor_ = actors_->spawn(supervisor, shared_, wire(shared_, parts, {}));
  caf::scoped_actor self{*actors_}; // an actor begins on a worker's thread, later
  self->request(supervisor_, caf::infinite, up_atom_v)
      .receive([](bool) {}, [](const caf::error&) {});
}

system::~system() {
  stop(std::chrono::milliseconds{0});
}

result<protocol::admission> system::admit(std::size_t bytes) {
  auto units = shared_->budget->admit(bytes);
  if (const auto& recorder = shared_->live->recorder(); recorder && !units)
    recorder->turned_away(bytes);
  return units;
}

std::shared_ptr<protocol::call> system::infer(inference_request request, protocol::admission units,
                                              part_fn on_part) {
  const auto deadline =
      request.deadline.value_or(shared_->clock->now() + shared_->default_deadline);
  auto asked =
      job::impl::make(std::move(request), std::move(on_part),
                      std::make_shared<shared_units>(std::move(units)), shared_->live, deadline);
  auto handle = std::make_shared<pending_call>(shared_, asked);
  if (!tell<job_stage>(*shared_, shared_->router, submit_atom_v, asked))
    asked->fail_with(errc::unavailable, "the server is shutting down", 1000);
  return handle;
}

bool system::ready() const noexcept {
  const auto& devices = shared_->signs;
  return loaded_ && !shared_->budget->closed()
         && std::any_of(devices.begin(), devices.end(),
                        [](const auto& one) { return one.health->fit(); });
}

void system::ask(query question) {
  tell<catalog_actor>(*shared_, shared_->catalog, query_atom_v,
                      query_ptr{std::make_shared<query>(std::move(question))});
}

void system::metadata(std::string model, std::string version,
                      answer<protocol::model_metadata> done) {
  query question;
  question.of = query::what::metadata;
  question.about = {std::move(model), std::move(version)};
  question.metadata = answer_once(std::move(done));
  ask(std::move(question));
}

void system::model_ready(std::string model, std::string version, answer<bool> done) {
  query question;
  question.of = query::what::ready;
  question.about = {std::move(model), std::move(version)};
  question.ready = answer_once(std::move(done));
  ask(std::move(question));
}

void system::index(answer<std::vector<protocol::model_index_entry>> done) {
  query question;
  question.of = query::what::index;
  question.index = answer_once(std::move(done));
  ask(std::move(question));
}

void system::statistics(std::string model, answer<std::vector<protocol::model_statistics>> done) {
  query question;
  question.of = query::what::statistics;
  question.about = {std::move(model), {}};
  question.statistics = answer_once(std::move(done));
  ask(std::move(question));
}

void system::load(std::string model, answer<void> done) {
  if (!clients_may_load_)
    return done(fixed_models());
  load_request what;
  what.name = std::move(model);
  what.done = std::move(done);
  load(std::move(what));
}

void system::load(load_request what) {
  what.done = answer_once(std::move(what.done));
  tell<catalog_actor>(*shared_, shared_->catalog, load_atom_v,
                      load_request_ptr{std::make_shared<load_request>(std::move(what))});
}

void system::unload(std::string model, answer<void> done) {
  if (!clients_may_load_)
    return done(fixed_models());
  drop(std::move(model), std::move(done));
}

void system::drop(std::string model, answer<void> done) {
  auto what = std::make_shared<load_request>();
  what->name = std::move(model);
  what->done = answer_once(std::move(done));
  tell<catalog_actor>(*shared_, shared_->catalog, unload_atom_v, load_request_ptr{what});
}

result<std::uint16_t> system::open(std::unique_ptr<protocol::listener> listener) {
  auto owner = actors_->spawn<caf::detached>(
      ingress, std::make_shared<std::unique_ptr<protocol::listener>>(std::move(listener)));
  result<std::uint16_t> port = fail(errc::internal, "the listener's actor ended");
  {
    caf::scoped_actor self{*actors_};
    self->request(owner, caf::infinite, begin_atom_v)
        .receive([&](const started& outcome) { port = outcome.port; }, [](const caf::error&) {});
  }
  if (port)
    listeners_.push_back(std::move(owner));
  else
    caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  return port;
}

void system::stop(std::chrono::milliseconds drain) {
  if (stopped_.exchange(true))
    return;
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + drain;
  shared_->budget->close();
  for (const auto& one : listeners_)
    caf::anon_send(one, halt_atom_v);
  const bool in_time = shared_->live->wait_empty(deadline);
  shared_->live->close();
  for (const auto& late : shared_->live->all())
    late->fail_with(errc::unavailable, "the server shut down before the request was answered",
                    1000);
  { // every answer has been handed to its connection: what is left is to send it
    caf::scoped_actor self{*actors_};
    const auto rest =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now());
    const auto left = in_time ? std::max<std::int64_t>(500, rest.count()) : 500;
    for (const auto& one : listeners_)
      self->send(one, drain_atom_v, left);
    for (const auto& one : listeners_) {
      self->receive([](bool) {}, caf::after(std::chrono::milliseconds{left + 1000}) >> [] {});
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    }
  }
  listeners_.clear();
  caf::anon_send_exit(supervisor_, caf::exit_reason::user_shutdown);
  supervisor_ = nullptr;
  offload_.stop();
  offload_.join();
  actors_.reset();
}

} // namespace troupe::actors
