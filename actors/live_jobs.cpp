#include "actors/live_jobs.hpp"

#include "actors/job.hpp"

namespace troupe::actors {

void live_jobs::enter(link& added) {
  bool earlier = false;
  {
    std::lock_guard lock(mutex_);
    added.after = first_;
    if (first_)
      first_->before = &added;
    first_ = &added;
    ++count_;
    earlier = added.deadline < next_look_;
    if (earlier)
      next_look_ = added.deadline;
  }
  if (earlier && on_earlier_)
    on_earlier_(added.deadline);
}

void live_jobs::extend(link& of, time_point later) {
  std::lock_guard lock(mutex_);
  of.deadline =
      later; // who looks at the old time finds nothing to do then, and goes by the new one
}

void live_jobs::leave(link& gone) noexcept {
  std::lock_guard lock(mutex_);
  if (first_ != &gone && !gone.before)
    return;
  if (gone.before)
    gone.before->after = gone.after;
  else
    first_ = gone.after;
  if (gone.after)
    gone.after->before = gone.before;
  gone.before = gone.after = nullptr;
  if (--count_ == 0)
    empty_.notify_all();
}

std::size_t live_jobs::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

// A job whose last reference is gone waits in its destructor for this lock; it is not revived, and
// nothing may be released in here that could be a last reference itself.
std::vector<std::shared_ptr<job::impl>> live_jobs::all() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<job::impl>> found;
  found.reserve(count_);
  for (auto* at = first_; at; at = at->after)
    if (auto held = at->owner->weak_from_this().lock())
      found.push_back(std::move(held));
  return found;
}

std::vector<std::shared_ptr<job::impl>> live_jobs::children_of(const job::impl& parent) const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<job::impl>> found;
  for (auto* at = first_; at; at = at->after)
    if (at->owner->parent.get() == &parent)
      if (auto held = at->owner->weak_from_this().lock())
        found.push_back(std::move(held));
  return found;
}

std::vector<std::shared_ptr<job::impl>> live_jobs::expired(time_point now,
                                                           std::optional<time_point>& next) {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<job::impl>> found;
  next_look_ = time_point::max();
  for (auto* at = first_; at; at = at->after) {
    if (at->deadline > now)
      next_look_ = std::min(next_look_, at->deadline);
    else if (auto held = at->owner->weak_from_this().lock())
      found.push_back(std::move(held));
  }
  next = next_look_ == time_point::max() ? std::nullopt : std::optional{next_look_};
  return found;
}

bool live_jobs::wait_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  empty_.wait_until(lock, deadline, [this] { return count_ == 0 || hurried_; });
  return count_ == 0;
}

void live_jobs::hurry() {
  std::lock_guard lock(mutex_);
  hurried_ = true;
  empty_.notify_all();
}

} // namespace troupe::actors
