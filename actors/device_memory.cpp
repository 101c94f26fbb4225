// What batches need beside the device: blocks of its memory, and of the host's where it copies from
// and to such. Those are taken in one order: who waits for the second holds the first alone, who
// has both runs and gives them back, so that nobody waits in a circle.

#include "actors/device_actor.hpp"

#include "actors/hand_on.hpp"
#include "runtime/store/size_class.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

void device_state::supply(std::uint64_t ticket, const work_ptr& work) {
  while (const auto lacking = work->lacks()) {
    auto block = kept(*lacking, work->bytes(*lacking));
    if (!block)
      return ask(*lacking, ticket, *work);
    work->set_lease(*lacking, std::move(block));
  }
  submit(ticket, work);
}

void device_state::ask(memory_kind of, std::uint64_t ticket, const device_work& work) {
  if (!tell<memory_actor>(*shared_, setup_.memory[of], lease_atom_v, ticket,
                          static_cast<std::uint64_t>(work.bytes(of))))
    granted(of, ticket, nullptr, {error{errc::unavailable, "no memory at the moment", 100}});
}

void device_state::granted(memory_kind of, std::uint64_t ticket, const lease_ptr& block,
                           const failure& outcome) {
  const auto at = running_.find(ticket);
  if (at == running_.end())
    return; // of an actor before this one; the lease gives itself back
  const auto work = at->second;
  if (work->lacks() != of)
    return; // asked for twice, since the books were begun anew
  if (outcome.what) {
    running_.erase(at);
    finish(*work->of(), outcome.what);
    return advance();
  }
  work->set_lease(of, block);
  supply(ticket, work);
}

// Whoever keeps the books of this memory has begun anew: what it was asked before is forgotten.
void device_state::ask_again(memory_kind of) {
  for (const auto& [ticket, work] : running_)
    if (work->lacks() == of)
      tell<memory_actor>(*shared_, setup_.memory[of], lease_atom_v, ticket,
                         static_cast<std::uint64_t>(work->bytes(of)));
}

// A block is kept for the next batch unless one waits for such memory: that one gets it by the
// books.
void device_state::keep_lease(device_work& from, memory_kind of) {
  auto block = from.take_lease(of);
  if (block && std::none_of(running_.begin(), running_.end(), [of](const auto& one) {
        return one.second->lacks() == of;
      }))
    kept_[of].push_back({std::move(block)});
}

// The smallest of the kept blocks that is large enough, unless most of it would lie idle. What is
// smaller than any block counts as one.
lease_ptr device_state::kept(memory_kind of, std::size_t bytes) {
  auto& blocks = kept_[of];
  const auto wanted = store::size_class(bytes);
  auto best = blocks.end();
  for (auto at = blocks.begin(); at != blocks.end(); ++at)
    if (at->block->size() >= bytes && at->block->size() / 4 <= wanted
        && (best == blocks.end() || at->block->size() < best->block->size()))
      best = at;
  if (best == blocks.end())
    return nullptr;
  auto block = std::move(best->block);
  blocks.erase(best);
  return block;
}

void device_state::yield(memory_kind of, bool all) {
  if (of == memory_kind::device)
    runs_.clear();
  std::erase_if(kept_[of], [all](auto& one) { return all || !std::exchange(one.used, false); });
}

} // namespace troupe::actors
