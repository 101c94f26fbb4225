#include "actors/system.hpp"

#include "actors/answer_once.hpp"
#include "actors/device_actor.hpp"
#include "actors/hand_on.hpp"
#include "actors/ingress_actor.hpp"
#include "actors/memory_actor.hpp"
#include "actors/postprocess_actor.hpp"
#include "actors/preprocess_actor.hpp"
#include "actors/router_actor.hpp"
#include "actors/storage_actor.hpp"
#include "actors/watchdog_actor.hpp"

#include <boost/asio/post.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <thread>

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
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", std::max(1, with.scheduler_threads));
  config.set("scheduler.max-throughput", 64);
  return config;
}

unsigned cores() noexcept {
  return std::max(1u, std::thread::hardware_concurrency());
}

template <class Spawn>
std::function<caf::strong_actor_ptr(caf::actor_system&)> spawned(Spawn spawn) {
  return
      [spawn](caf::actor_system& in) { return caf::actor_cast<caf::strong_actor_ptr>(spawn(in)); };
}

} // namespace

system::system(system_parts parts) : offload_(cores()) {
  const auto& with = parts.with;
  shared_->clock = parts.clock;
  shared_->default_deadline = with.default_deadline;
  shared_->budget = std::make_shared<admission_budget>(with.max_requests, with.max_request_bytes);
  shared_->offload = [this](std::function<void()> work) {
    boost::asio::post(offload_, std::move(work));
  };
  // Weak: jobs hold the list and may outlive the system, in the hands of a slow callback.
  shared_->live =
      std::make_shared<live_jobs>(parts.clock, [weak = std::weak_ptr(shared_)](time_point) {
        if (const auto shared = weak.lock())
          tell<watchdog_actor>(*shared, shared->watchdog, up_atom_v);
      });
  actors_ = std::make_unique<caf::actor_system>(configured(config_, with));
  auto first = children(parts);
  supervisor_ = actors_->spawn(supervisor, shared_, std::move(first));
  shared_->stages->set(shared_->supervisor, supervisor_);
  caf::scoped_actor self{*actors_}; // an actor begins on a worker's thread, later
  self->request(supervisor_, caf::infinite, up_atom_v)
      .receive([](bool) {}, [](const caf::error&) {});
}

system::~system() {
  stop(std::chrono::milliseconds{0});
}

std::vector<child_spec> system::children(const system_parts& parts) {
  auto& stages = *shared_->stages;
  auto shared = shared_;
  std::vector<child_spec> made;
  auto add = [&](std::string name, auto spawn, int tickets = 0) {
    const auto id = stages.fresh_id();
    made.push_back({id, std::move(name), spawned(std::move(spawn)), tickets});
    return id;
  };
  shared_->supervisor = stages.fresh_id();
  shared_->watchdog =
      add("watchdog", [shared](caf::actor_system& in) { return in.spawn(watchdog, shared); });
  shared_->preprocess =
      add("preprocess", [shared](caf::actor_system& in) { return in.spawn(preprocess, shared); });
  shared_->postprocess =
      add("postprocess", [](caf::actor_system& in) { return in.spawn(postprocess); });
  for (unsigned i = 0; i < std::min(cores(), 4u); ++i)
    shared_->storages.push_back(add("storage", [shared](caf::actor_system& in) {
      return in.spawn<caf::detached>(storage, shared);
    }));
  std::vector<device_place> places;
  for (const auto& on : parts.devices) {
    device_place place{stages.fresh_id(), stages.fresh_id()};
    const auto& about = on->properties();
    store::ledger::limits limits;
    limits.budget_bytes =
        parts.with.device_memory_bytes ? parts.with.device_memory_bytes : about.memory_bytes;
    made.push_back({place.memory, "memory of " + about.name, spawned([=](caf::actor_system& in) {
                      return in.spawn(memory, shared, on, place.memory, place.device, limits);
                    }),
                    0});
    const device_setup setup{on, place.device, place.memory, stream_mode::own_thread};
    made.push_back({place.device, "device " + about.name, spawned([=](caf::actor_system& in) {
                      return in.spawn<caf::detached>(device, shared, setup);
                    }),
                    std::max(1, about.tickets)});
    places.push_back(place);
  }
  shared_->router = add("router", [shared, miss = parts.load_on_miss](caf::actor_system& in) {
    return in.spawn(router, shared, miss);
  });
  shared_->catalog = add("catalog", [shared, places, source = parts.source](caf::actor_system& in) {
    return in.spawn(catalog, shared, places, source);
  });
  return made;
}

result<protocol::admission> system::admit(std::size_t bytes) {
  return shared_->budget->admit(bytes);
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
  return loaded_ && !shared_->budget->closed();
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
  shared_->live->wait_empty(deadline);
  for (const auto& late : shared_->live->all())
    late->fail_with(errc::unavailable, "the server shut down before the request was answered",
                    1000);
  { // every answer has been handed to its connection: what is left is to send it
    caf::scoped_actor self{*actors_};
    const auto left = std::max<std::int64_t>(
        500,
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count());
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
