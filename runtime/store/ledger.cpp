#include "runtime/store/ledger.hpp"

#include <algorithm>
#include <utility>

namespace troupe::store {

result<std::shared_ptr<buffer>> ledger::lease(std::uint64_t waiter, std::size_t bytes,
                                              time_point /*now*/) {
  const auto size = size_class(bytes);
  if (size + reserved_ + for_long_ > limits_.budget_bytes)
    strike_out_lost(); // weights may be gone that nobody told of
  if (size + reserved_ + for_long_ > limits_.budget_bytes)
    return fail(
        errc::resource_exhausted,
        "{}: a block of {} bytes is wanted, the budget is {} bytes of which {} hold weights "
        "and {} are kept for long",
        to_string(of_), size, limits_.budget_bytes, reserved_, for_long_);
  largest_ = std::max(largest_, size);
  if (waiting_.empty()) { // nobody is overtaken
    auto block = try_lease(size);
    if (!block || *block)
      return block;
  }
  if (waiting_.size() >= limits_.max_waiting)
    return fail(errc::resource_exhausted, "{}: {} requests for blocks wait already", to_string(of_),
                waiting_.size());
  waiting_.push_back({waiter, size});
  return std::shared_ptr<buffer>{};
}

result<std::shared_ptr<buffer>> ledger::lease_for_long(std::size_t bytes) {
  const auto size = size_class(bytes);
  const auto room = [&] {
    const auto rest = limits_.budget_bytes - std::min(limits_.budget_bytes, reserved_);
    return for_long_ + size + std::max(largest_, rest / 8) <= rest;
  };
  if (!room())
    strike_out_lost();
  if (!room())
    return fail(
        errc::resource_exhausted,
        "{}: a block of {} bytes is wanted for long, the budget is {} bytes of which {} hold "
        "weights and {} are kept for long",
        to_string(of_), size, limits_.budget_bytes, reserved_, for_long_);
  if (!waiting_.empty())
    return std::shared_ptr<buffer>{};
  auto block = try_lease(size);
  if (block && *block) {
    for_long_ += (*block)->size();
    lent_[block->get()].for_long = true;
  }
  return block;
}

std::vector<ledger::grant> ledger::give_back(std::shared_ptr<buffer> block, time_point now) {
  const auto lent = lent_.extract(block.get());
  if (lent.empty())
    return serve(); // not of these books
  const auto size = block->size();
  leased_ -= size;
  for_long_ -= lent.mapped().for_long ? size : 0;
  free_ += size;
  idle_.emplace(size, idle_block{std::move(block), now});
  return serve();
}

std::vector<ledger::grant> ledger::audit() {
  strike_out_lost();
  return serve();
}

void ledger::strike_out_lost() {
  std::erase_if(lent_, [this](const auto& one) {
    const bool lost = one.second.block.expired();
    leased_ -= lost ? one.second.bytes : 0;
    for_long_ -= lost && one.second.for_long ? one.second.bytes : 0;
    return lost;
  });
  std::erase_if(booked_, [this](const auto& one) {
    const bool over = one.held.expired();
    reserved_ -= over ? one.bytes : 0;
    return over;
  });
}

void ledger::forget(std::uint64_t waiter) {
  std::erase_if(waiting_, [waiter](const request& held) { return held.waiter == waiter; });
}

result<std::shared_ptr<reservation>> ledger::reserve(std::size_t bytes,
                                                     std::function<void()> released) {
  // States of sequences stay; what works on them is to find room again.
  const auto lasting = [&] {
    return reserved_ + for_long_ + (for_long_ > 0 ? largest_ : 0) + bytes;
  };
  if (lasting() > limits_.budget_bytes)
    strike_out_lost();
  if (lasting() > limits_.budget_bytes || !make_room(bytes)) {
    constexpr std::uint32_t again_in_ms = 20;
    error why{errc::resource_exhausted,
              fmt::format("{}: {} bytes of weights are to be loaded, the budget is {} bytes of "
                          "which {} hold weights and {} are at work",
                          to_string(of_), bytes, limits_.budget_bytes, reserved_, leased_)};
    if (lasting() <= limits_.budget_bytes)
      why.retry_after_ms = again_in_ms;
    return tl::unexpected<error>{std::move(why)};
  }
  auto made = std::make_shared<reservation>(bytes, std::move(released));
  booked_.push_back({made, bytes});
  reserved_ += bytes;
  return made;
}

std::optional<time_point> ledger::expire(time_point now) {
  std::optional<time_point> next;
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto due = at->second.since + limits_.idle_expiry;
    if (due <= now) {
      free_ -= at->first;
      at = idle_.erase(at);
      continue;
    }
    if (!next || due < *next)
      next = due;
    ++at;
  }
  return next;
}

// Null means: not now.
result<std::shared_ptr<buffer>> ledger::try_lease(std::size_t bytes) {
  // A block up to twice as large is taken too: better than a new one beside it.
  if (auto at = idle_.lower_bound(bytes); at != idle_.end() && at->first <= 2 * bytes) {
    auto block = std::move(at->second.block);
    idle_.erase(at);
    free_ -= block->size();
    return lend(std::move(block));
  }
  if (!make_room(bytes))
    return std::shared_ptr<buffer>{};
  const auto take = [&] {
    return of_ == memory_kind::device ? on_->allocate(bytes) : on_->allocate_host(bytes);
  };
  auto made = take();
  if (!made && !idle_.empty()) { // the machine has less than the budget says
    idle_.clear();
    free_ = 0;
    made = take();
  }
  if (!made) {
    if (leased_ > 0) // what is leased comes back
      return std::shared_ptr<buffer>{};
    return propagate(std::move(made));
  }
  return lend(std::move(*made));
}

std::shared_ptr<buffer> ledger::lend(std::shared_ptr<buffer> block) {
  lent_[block.get()] = {block, block->size()};
  leased_ += block->size();
  return block;
}

std::vector<ledger::grant> ledger::serve() {
  std::vector<grant> made;
  while (!waiting_.empty()) {
    auto block = try_lease(waiting_.front().bytes);
    if (block && !*block)
      break;
    // A grant without a block tells the waiter that the device has none left.
    made.push_back({waiting_.front().waiter, block ? std::move(*block) : nullptr});
    waiting_.pop_front();
  }
  return made;
}

// Drops idle blocks, the longest unused first, until `bytes` more fit into the budget.
bool ledger::make_room(std::size_t bytes) {
  if (leased_ + reserved_ + bytes > limits_.budget_bytes)
    strike_out_lost();
  if (leased_ + reserved_ + bytes > limits_.budget_bytes)
    return false;
  while (leased_ + reserved_ + free_ + bytes > limits_.budget_bytes) {
    auto oldest = std::min_element(idle_.begin(), idle_.end(), [](auto& a, auto& b) {
      return a.second.since < b.second.since;
    });
    free_ -= oldest->first;
    idle_.erase(oldest);
  }
  return true;
}

} // namespace troupe::store
