#include "kernels/sim/sim_stream.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

namespace troupe::sim {

std::optional<error> engine::next_failure() {
  std::uint64_t submit = 0;
  {
    const std::lock_guard lock{mutex_};
    submit = ++submits_;
  }
  if (options_.script)
    if (auto failure = options_.script(submit))
      return failure;
  if (options_.fail_every > 0 && submit % options_.fail_every == 0)
    return error{errc::internal, fmt::format("device {}: submit {} fails as it was told to",
                                             options_.name, submit)};
  return std::nullopt;
}

time_point engine::book(std::optional<std::int64_t> rows, duration extra) {
  const std::lock_guard lock{mutex_};
  free_at_ = std::max(free_at_, options_.time->now());
  if (rows)
    free_at_ += options_.launch_cost + *rows * options_.row_cost;
  free_at_ += extra;
  return free_at_;
}

result<void> stream_core::check_writes(std::span<const tensor_view> outputs) const {
  const auto* apart = engine_->apart();
  for (const auto& output : outputs)
    if (apart && output.data && !apart->holds(side::device, output.data, output.desc.bytes()))
      return fail(errc::internal,
                  "a kernel's output of {} bytes: expected it in the device's memory",
                  output.desc.bytes());
  return {};
}

void stream_core::count_rows(std::int64_t rows) {
  rows_ = std::max(rows_.value_or(0), rows);
}

stream_core::issued stream_core::issue_now(const issue_fn& issue) {
  rows_.reset();
  extra_ = duration{0};
  landings_.clear();
  result<void> outcome;
  auto failure = engine_->next_failure();
  try {
    outcome = issue(*this);
  } catch (const std::exception& thrown) { // the edge of the timeline's thread
    outcome = fail(errc::internal, "a kernel threw: {}", thrown.what());
  }
  if (failure)
    outcome = tl::unexpected{*std::move(failure)};
  return {std::move(outcome), engine_->book(rows_, extra_), std::exchange(landings_, {})};
}

void stream_core::finish(const done_fn& done, issued what) {
  for (const auto& [at, bytes] : what.landings)
    std::memcpy(at, bytes.data(), bytes.size());
  done(std::move(what.outcome));
  {
    const std::lock_guard lock{mutex_};
    ++finished_;
  }
  progress_.notify_all();
}

void stream_core::submit(issue_fn issue, done_fn done) {
  {
    const std::lock_guard lock{mutex_};
    ++submitted_;
  }
  auto& time = engine_->time();
  if (mode_ == stream_mode::inline_) {
    auto started = issue_now(issue);
    if (engine_->is_real())
      std::this_thread::sleep_until(started.finished_at);
    finish(done, std::move(started));
    return;
  }
  auto self = shared_from_this();
  time.at(time.now(), [self, issue = std::move(issue), done = std::move(done)]() mutable {
    auto started = self->issue_now(issue);
    issue = nullptr;
    const auto at = started.finished_at;
    self->engine_->time().at(
        at, [self, done = std::move(done), started = std::move(started)]() mutable {
          self->finish(done, std::move(started));
        });
  });
}

result<void> stream_core::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0)
    return {};
  if (auto* apart = engine_->apart()) {
    const auto into = apart->count_copy(to, from, bytes);
    if (!into)
      return propagate(into);
    if (*into == side::host) { // as it is when its turn comes in the stream
      landings_.push_back({to, {from, from + bytes}});
      return {};
    }
  }
  std::memmove(to, from, bytes);
  return {};
}

bool stream_core::finished(std::uint64_t point) const {
  const std::lock_guard lock{mutex_};
  return finished_ >= point;
}

void stream_core::wait_for(std::uint64_t point) const {
  std::unique_lock lock{mutex_};
  progress_.wait(lock, [&] { return finished_ >= point; });
}

void stream_core::synchronize() {
  std::unique_lock lock{mutex_};
  progress_.wait(lock, [this, point = submitted_] { return finished_ >= point; });
}

namespace {

class sim_event final : public event {
public:
  sim_event(std::shared_ptr<const stream_core> of, std::uint64_t point)
      : stream_{std::move(of)}, point_{point} {}
  bool ready() const override { return stream_->finished(point_); }
  void wait() const override { stream_->wait_for(point_); }

private:
  std::shared_ptr<const stream_core> stream_;
  std::uint64_t point_;
};

// The user's end of a stream: work that was submitted goes on without it.
class stream_handle final : public stream {
public:
  explicit stream_handle(std::shared_ptr<stream_core> core) : core_{std::move(core)} {}

  void submit(issue_fn issue, done_fn done) override {
    core_->submit(std::move(issue), std::move(done));
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return core_->copy(to, from, bytes);
  }
  result<std::unique_ptr<event>> record() override { return core_->record(); }
  void synchronize() override { core_->synchronize(); }

private:
  std::shared_ptr<stream_core> core_;
};

} // namespace

result<std::unique_ptr<event>> stream_core::record() {
  const std::lock_guard lock{mutex_};
  return std::make_unique<sim_event>(shared_from_this(), submitted_);
}

result<void> spend(stream& on, duration time) {
  auto* simulated = dynamic_cast<stream_core*>(&on);
  if (simulated == nullptr)
    return fail(errc::failed_precondition, "time is spent on a simulated device's stream only");
  simulated->spend(std::max(time, duration{0}));
  return {};
}

std::unique_ptr<stream> open_sim_stream(stream_mode mode, std::shared_ptr<engine> on) {
  return std::make_unique<stream_handle>(std::make_shared<stream_core>(mode, std::move(on)));
}

} // namespace troupe::sim
