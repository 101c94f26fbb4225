#include "runtime/exec/plan_cache.hpp"

#include "runtime/exec/plan_bytes.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace troupe::exec {
namespace {

/// Ranks and sizes, as bytes.
std::string key_of(std::span<const shape> dims) {
  std::string key;
  const auto add = [&key](std::int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const auto& input : dims) {
    add(static_cast<std::int64_t>(input.size()));
    for (auto size : input)
      add(size);
  }
  return key;
}

} // namespace

plan_cache::plan_cache(std::size_t limit, std::shared_ptr<plan_budget> budget)
    : limit_{limit == 0 ? 1 : limit}, budget_{std::move(budget)} {
  if (budget_)
    budget_->join(*this);
}

plan_cache::~plan_cache() {
  if (!budget_)
    return;
  budget_->leave(*this);
  for (const auto& each : entries_)
    budget_->removed(each.bytes);
}

plan_cache::plan_ptr plan_cache::find(std::span<const shape> dims) {
  const auto key = key_of(dims);
  const std::lock_guard lock{mutex_};
  return find_locked(key);
}

result<plan_cache::plan_ptr> plan_cache::find_or_make(std::span<const shape> dims,
                                                      const maker& make) {
  const auto key = key_of(dims);
  std::unique_lock lock{mutex_};
  if (auto known = find_locked(key))
    return known;
  if (auto other = flights_.find(key); other != flights_.end()) {
    const auto waited_for = other->second;
    landed_.wait(lock, [&] { return waited_for->landed; });
    return waited_for->outcome;
  }
  const auto own = flights_.emplace(key, std::make_shared<flight>()).first->second;
  lock.unlock();
  result<plan_ptr> outcome = fail(errc::internal, "making a plan ended without a result");
  try {
    outcome = make();
  } catch (const std::exception& thrown) {
    outcome = fail(errc::internal, "making a plan failed: {}", thrown.what());
  }
  lock.lock();
  own->outcome = outcome;
  own->landed = true;
  flights_.erase(key);
  if (outcome)
    keep_locked(key, *outcome);
  landed_.notify_all();
  lock.unlock();
  if (budget_)
    budget_->trim();
  return outcome;
}

bool plan_cache::holds(const plan::plan& wanted) const {
  const std::lock_guard lock{mutex_};
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const entry& each) { return each.made.get() == &wanted; });
}

std::size_t plan_cache::size() const {
  const std::lock_guard lock{mutex_};
  return entries_.size();
}

plan_cache::plan_ptr plan_cache::find_locked(const std::string& key) {
  const auto at = index_.find(key);
  if (at == index_.end())
    return nullptr;
  entries_.splice(entries_.begin(), entries_, at->second);
  if (budget_)
    at->second->used = budget_->tick();
  return at->second->made;
}

void plan_cache::keep_locked(const std::string& key, plan_ptr made) {
  const auto bytes = budget_ ? plan_bytes(*made) : 0;
  entries_.push_front({key, std::move(made), bytes, budget_ ? budget_->tick() : 0});
  index_[key] = entries_.begin();
  if (budget_)
    budget_->added(bytes);
  while (entries_.size() > limit_)
    drop_oldest_locked();
}

plan_cache::plan_ptr plan_cache::drop_oldest_locked() {
  auto& last = entries_.back();
  auto gone = std::move(last.made);
  if (budget_)
    budget_->removed(last.bytes);
  index_.erase(last.key);
  entries_.pop_back();
  return gone;
}

plan_cache::age plan_cache::oldest() const {
  const std::lock_guard lock{mutex_};
  return entries_.empty() ? age{} : age{entries_.size(), entries_.back().used};
}

// The plan ends outside the lock: that takes a while.
void plan_cache::drop_oldest() {
  plan_ptr gone;
  const std::lock_guard lock{mutex_};
  if (!entries_.empty())
    gone = drop_oldest_locked();
}

} // namespace troupe::exec
