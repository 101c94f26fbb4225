#include "actors/capture_recorder.hpp"

#include "kernels/base/thread_name.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe::actors {

result<std::shared_ptr<capture_recorder>>
capture_recorder::open(const std::filesystem::path& file, std::shared_ptr<const clock_source> clock,
                       const capture::header& about) {
  std::ofstream to{file, std::ios::binary | std::ios::trunc};
  to << capture::to_line(about) << std::flush;
  if (!to)
    return fail(errc::invalid_argument, "capture: {} cannot be written: {}", file.string(),
                std::strerror(errno));
  return std::shared_ptr<capture_recorder>{new capture_recorder{std::move(to), std::move(clock)}};
}

capture_recorder::capture_recorder(std::ofstream file, std::shared_ptr<const clock_source> clock)
    : file_{std::move(file)}, clock_{std::move(clock)}, begin_{clock_->now()}, writer_{[this] {
        write_on();
      }} {}

capture_recorder::~capture_recorder() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

std::uint32_t capture_recorder::add_model(capture::model what) {
  const std::lock_guard lock{mutex_};
  what.number = ++models_;
  const auto number = what.number;
  push(std::move(what));
  return number;
}

std::uint32_t capture_recorder::known_shape(std::size_t hash) const {
  const std::lock_guard lock{mutex_};
  const auto known = shapes_.find(hash);
  return known == shapes_.end() ? 0 : known->second;
}

std::uint64_t capture_recorder::asked(capture::ask what, time_point at) {
  what.at = since_begin(at);
  const std::lock_guard lock{mutex_};
  what.number = ++requests_;
  const auto number = what.number;
  push(what);
  return number;
}

void capture_recorder::turned_away(std::size_t bytes) {
  add(capture::turned_away{since_begin(clock_->now()), bytes});
}

void capture_recorder::ran(capture::run what, time_point began) {
  what.at = since_begin(began);
  add(what);
}

void capture_recorder::ended(capture::end what) {
  what.at = since_begin(clock_->now());
  add(std::move(what));
}

void capture_recorder::add(capture::record what) {
  const std::lock_guard lock{mutex_};
  push(std::move(what));
}

void capture_recorder::push(capture::record what) {
  if (waiting_.size() >= most_waiting) {
    ++lost_;
    return;
  }
  if (lost_ > 0)
    waiting_.emplace_back(capture::lost{std::exchange(lost_, 0)});
  waiting_.push_back(std::move(what));
  if (waiting_.size() == 1)
    changed_.notify_one();
}

duration capture_recorder::since_begin(time_point at) const noexcept {
  return std::max(at - begin_, duration{0});
}

void capture_recorder::write_on() {
  name_this_thread("capture");
  std::vector<capture::record> taken;
  std::string text;
  bool failed = false;
  for (bool last = false; !last;) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      std::swap(taken, waiting_);
      if (closing_ && lost_ > 0)
        taken.emplace_back(capture::lost{std::exchange(lost_, 0)});
      last = closing_;
    }
    text.clear();
    for (const auto& one : taken)
      text += capture::to_line(one);
    taken.clear();
    if (!failed && !(file_ << text << std::flush)) {
      spdlog::error("capture: the file cannot be written any more: {}", std::strerror(errno));
      failed = true;
    }
  }
}

} // namespace troupe::actors
