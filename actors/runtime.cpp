#include "actors/capturing.hpp"
#include "actors/engine_loader.hpp"
#include "actors/system.hpp"
#include "actors/troupe.hpp"

#include <spdlog/spdlog.h>

namespace troupe {

struct runtime::impl {
  impl(actors::loading_setup how, actors::system_parts parts)
      : loading(std::move(how)), system(std::move(parts)) {}

  actors::loading_setup loading;
  actors::system system;
};

namespace {

// Waits for an asynchronous answer; never on a thread of the runtime's own.
template <class T, class Ask>
result<T> wait_for(Ask ask) {
  auto promise = std::make_shared<std::promise<result<T>>>();
  auto answered = promise->get_future();
  ask([promise](result<T> with) { promise->set_value(std::move(with)); });
  return answered.get();
}

} // namespace

runtime::runtime(std::unique_ptr<impl> made) : impl_(std::move(made)) {}

runtime::~runtime() {
  stop();
}

result<std::unique_ptr<runtime>> runtime::start(options with) {
  actors::system_parts parts;
  auto devices = actors::open_devices(with.devices);
  if (!devices)
    return propagate(std::move(devices));
  parts.devices = std::move(*devices);
  auto loading = actors::loading_for(with, parts.devices);
  if (!with.tuning_file.empty()) {
    auto tuned = plan::tuning::open(with.tuning_file, *parts.devices.front());
    if (!tuned)
      return propagate(std::move(tuned));
    loading.tuning = std::move(*tuned);
  }
  if (with.capture_payloads && with.capture_file.empty())
    return fail(errc::invalid_argument,
                "capture_payloads: expected a capture_file beside which they are written");
  if (!with.capture_file.empty()) {
    auto recorder = actors::open_capture(with, parts.devices, parts.clock);
    if (!recorder)
      return propagate(std::move(recorder));
    parts.recorder = std::move(*recorder);
  }
  auto source = actors::repository_source(loading);
  if (!source)
    return propagate(std::move(source));
  parts.source = std::move(*source);
  parts.load_on_miss = !with.model_repository.empty() && with.load_on_miss;
  parts.with = std::move(with);
  const bool load_all = parts.with.load_all && parts.source.list;
  const auto names = load_all ? parts.source.list() : std::vector<std::string>{};
  std::unique_ptr<runtime> made{
      new runtime{std::make_unique<impl>(std::move(loading), std::move(parts))}};
  std::vector<std::future<result<void>>> loads;
  for (const auto& name : names) {
    auto promise = std::make_shared<std::promise<result<void>>>();
    loads.push_back(promise->get_future());
    actors::load_request what;
    what.name = name;
    what.done = [promise](result<void> outcome) { promise->set_value(std::move(outcome)); };
    made->impl_->system.load(std::move(what));
  }
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (auto outcome = loads[i].get(); !outcome)
      return fail(outcome.error().code, "model {}: {}", names[i], outcome.error().text);
  made->impl_->system.set_ready();
  return made;
}

result<void> runtime::load(const std::string& name, const std::filesystem::path& from) {
  auto loader = actors::loader_for(name, from, impl_->loading);
  if (!loader)
    return propagate(std::move(loader));
  return wait_for<void>([&](auto done) {
    actors::load_request what;
    what.name = name;
    what.load = std::move(*loader);
    what.source = from.lexically_normal().string();
    what.done = std::move(done);
    impl_->system.load(std::move(what));
  });
}

result<void> runtime::load(const std::string& name) {
  return wait_for<void>([&](auto done) {
    actors::load_request what;
    what.name = name;
    what.done = std::move(done);
    impl_->system.load(std::move(what));
  });
}

result<void> runtime::unload(const std::string& name) {
  return wait_for<void>([&](auto done) { impl_->system.drop(name, std::move(done)); });
}

result<void> runtime::add_stage(const std::string& name, stage_signature io, stage_factory make) {
  return wait_for<void>([&](auto done) {
    actors::load_request what;
    what.name = name;
    what.stage = std::move(io);
    what.make = std::move(make);
    what.done = std::move(done);
    impl_->system.load(std::move(what));
  });
}

std::shared_ptr<protocol::call> runtime::infer(inference_request request,
                                               std::function<void(response_part)> done) {
  std::size_t bytes = 0;
  for (const auto& input : request.inputs)
    bytes += input.value.data.size();
  auto units = impl_->system.admit(bytes);
  if (!units) {
    done(propagate(std::move(units)));
    return nullptr;
  }
  return impl_->system.infer(
      std::move(request), std::move(*units),
      [done = std::move(done)](response_part part, bool) { done(std::move(part)); });
}

std::future<response_part> runtime::infer(inference_request request) {
  auto promise = std::make_shared<std::promise<response_part>>();
  auto answered = promise->get_future();
  infer(std::move(request), [promise](response_part part) { promise->set_value(std::move(part)); });
  return answered;
}

result<protocol::model_metadata> runtime::metadata(const std::string& model) const {
  return wait_for<protocol::model_metadata>(
      [&](auto done) { impl_->system.metadata(model, {}, std::move(done)); });
}

std::vector<protocol::model_index_entry> runtime::models() const {
  auto found = wait_for<std::vector<protocol::model_index_entry>>(
      [&](auto done) { impl_->system.index(std::move(done)); });
  return found ? std::move(*found) : std::vector<protocol::model_index_entry>{};
}

std::vector<protocol::model_statistics> runtime::statistics(const std::string& model) const {
  auto found = wait_for<std::vector<protocol::model_statistics>>(
      [&](auto done) { impl_->system.statistics(model, std::move(done)); });
  return found ? std::move(*found) : std::vector<protocol::model_statistics>{};
}

bool runtime::ready() const noexcept {
  return impl_->system.ready();
}

protocol::service& runtime::service() noexcept {
  return impl_->system;
}

result<std::uint16_t> runtime::open(std::unique_ptr<protocol::listener> made) {
  return impl_->system.open(std::move(made));
}

void runtime::set_unready() noexcept {
  impl_->system.set_unready();
}

void runtime::stop(std::chrono::milliseconds drain) {
  impl_->system.stop(drain);
}

void runtime::hurry() noexcept {
  impl_->system.hurry();
}

} // namespace troupe
