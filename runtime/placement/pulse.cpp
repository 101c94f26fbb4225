#include "runtime/placement/pulse.hpp"

namespace troupe::placement {

bool pulse::began(std::uint64_t ticket, duration limit, time_point now) {
  std::lock_guard lock(mutex_);
  if (held_.empty())
    since_ = now;
  held_.push_back({ticket, limit});
  return look_earlier();
}

bool pulse::ended(std::uint64_t ticket, time_point now) {
  std::lock_guard lock(mutex_);
  if (std::erase_if(held_, [ticket](const work& one) { return one.ticket == ticket; }) == 0)
    return false;
  since_ = now;
  return look_earlier();
}

bool pulse::look_earlier() {
  if (held_.empty() || since_ + held_.front().limit >= next_look_)
    return false;
  next_look_ = since_ + held_.front().limit;
  return true;
}

void pulse::clear() {
  std::lock_guard lock(mutex_);
  held_.clear();
  next_look_ = time_point::max();
}

std::optional<time_point> pulse::due() {
  std::lock_guard lock(mutex_);
  next_look_ = held_.empty() ? time_point::max() : since_ + held_.front().limit;
  return held_.empty() ? std::nullopt : std::optional{next_look_};
}

} // namespace troupe::placement
