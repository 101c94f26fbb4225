#include "actors/capture_recorder.hpp"

#include "kernels/base/thread_name.hpp"
#include "protocol/msgpack/encode.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace troupe::actors {

result<std::shared_ptr<capture_recorder>>
capture_recorder::open(const std::filesystem::path& file, std::shared_ptr<const clock_source> clock,
                       const capture::header& about, std::optional<payload_bounds> payloads) {
  std::ofstream to{file, std::ios::binary | std::ios::trunc};
  auto header = about;
  header.payloads = payloads.has_value();
  to << capture::to_line(header) << std::flush;
  if (!to)
    return fail(errc::invalid_argument, "capture: {} cannot be written: {}", file.string(),
                std::strerror(errno));
  std::unique_ptr<payload_file> beside;
  if (payloads) {
    auto made = payload_file::create(file.string() + ".requests");
    if (!made)
      return propagate(std::move(made));
    beside = std::move(*made);
  }
  return std::shared_ptr<capture_recorder>{new capture_recorder{
      std::move(to), std::move(beside), payloads.value_or(payload_bounds{}), std::move(clock)}};
}

capture_recorder::capture_recorder(std::ofstream file, std::unique_ptr<payload_file> payloads,
                                   payload_bounds bounds, std::shared_ptr<const clock_source> clock)
    : file_{std::move(file)}, payloads_{std::move(payloads)}, bounds_{bounds},
      clock_{std::move(clock)}, begin_{clock_->now()}, room_{bounds.file_bytes}, writer_{[this] {
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

// Encoded before anybody has to wait: that shares the tensors, and says how long the frame is.
void capture_recorder::keep(std::uint64_t number, protocol::inference_request asked) {
  std::size_t bytes = 0;
  for (const auto& input : asked.inputs)
    bytes += input.value.data.size();
  const bool possible = payloads_ && bytes <= bounds_.waiting_bytes
                        && bytes <= protocol::rpc::max_bin_bytes
                        && number <= std::numeric_limits<std::uint32_t>::max(); // as ids are
  protocol::rpc::outgoing_frame frame;
  if (possible) {
    for (auto& input : asked.inputs)
      if (!input.value.data.owner)
        input.value.data = copy_of(input.value.data.view);
    frame = protocol::rpc::encode_infer_request(static_cast<std::uint32_t>(number), asked);
  }
  const std::lock_guard lock{mutex_};
  if (!possible || frame.bytes() > bounds_.waiting_bytes - frame_bytes_ || frame.bytes() > room_) {
    ++payloads_lost_;
    return;
  }
  if (payloads_lost_ > 0 && waiting_.size() < most_waiting)
    push(capture::payloads_lost{std::exchange(payloads_lost_, 0)});
  frame_bytes_ += frame.bytes();
  room_ -= frame.bytes();
  frames_.push_back(std::move(frame));
  if (frames_.size() == 1)
    changed_.notify_one();
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
  std::vector<protocol::rpc::outgoing_frame> frames;
  std::string text;
  for (bool last = false; !last;) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty() || !frames_.empty(); });
      std::swap(taken, waiting_);
      std::swap(frames, frames_);
      last = closing_;
    }
    text.clear();
    for (const auto& one : taken)
      text += capture::to_line(one);
    taken.clear();
    write_lines(text);
    write_payloads(frames);
  }
  text.clear(); // nobody else is left
  if (lost_ > 0)
    text += capture::to_line(capture::lost{lost_});
  if (payloads_lost_ > 0)
    text += capture::to_line(capture::payloads_lost{payloads_lost_});
  write_lines(text);
}

void capture_recorder::write_lines(const std::string& text) {
  if (failed_ || file_ << text << std::flush)
    return;
  spdlog::error("capture: the file cannot be written any more: {}", std::strerror(errno));
  failed_ = true;
}

// Small ones together. What is written is let go before anybody may count on its memory.
void capture_recorder::write_payloads(std::vector<protocol::rpc::outgoing_frame>& taken) {
  constexpr std::size_t enough = std::size_t{1} << 20; // bytes of one write
  for (std::size_t first = 0, end = 0; first < taken.size(); first = end) {
    std::size_t bytes = 0;
    for (; end < taken.size() && bytes < enough; ++end)
      bytes += taken[end].bytes();
    const auto together = std::span{taken}.subspan(first, end - first);
    const auto written = payloads_failed_ ? result<void>{} : payloads_->append(together);
    std::fill(together.begin(), together.end(), protocol::rpc::outgoing_frame{});
    if (!written)
      spdlog::error("capture: requests cannot be kept any more: {}", written.error().text);
    payloads_failed_ = payloads_failed_ || !written;
    const std::lock_guard lock{mutex_};
    frame_bytes_ -= bytes;
    if (!payloads_failed_)
      continue;
    room_ = 0;
    payloads_lost_ += together.size();
  }
  taken.clear();
}

} // namespace troupe::actors
