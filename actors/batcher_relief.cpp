// Batchers of one model help each other out: an idle one asks the one that is furthest behind for
// what waits there. Requests belong to one batcher at any time: they leave the one's queue before
// they are sent, and are the other's from then on.

#include "actors/batcher_actor.hpp"

#include "actors/hand_on.hpp"
#include "runtime/placement/routing.hpp"

#include <algorithm>

namespace troupe::actors {

// An idle batcher looks for work, one with too much says so to those that are idle.
void batcher_state::share_work() {
  const auto& placements = model().placements;
  // What must stay in order, or has its state here, stays in one place.
  if (placements.size() < 2 || retiring_ || sequences_
      || model().settings.batching.preserve_ordering)
    return;
  if (tickets_ > 0 && queue_.empty() && again_.empty() && in_flight_.empty()) {
    std::vector<const placement::load*> loads;
    for (const auto& one : placements)
      loads.push_back(one.load.get());
    const auto most = model().settings.batching.max_rows;
    if (const auto behind = placement::to_relieve(loads, self_at_, most, now()))
      tell<batcher_actor>(*shared_, placements[*behind].entry, relieve_atom_v, what_->where->entry,
                          most);
  } else if (!queue_.empty() && (tickets_ == 0 || !in_flight_.empty())) {
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (i != self_at_ && placements[i].load->idle())
        tell<batcher_actor>(*shared_, placements[i].entry, offer_atom_v);
  }
}

// What would leave next goes to the idle one; what the device here could begin at once does not.
void batcher_state::relieve(stage_id idle, std::int64_t rows) {
  if (tickets_ > 0 && in_flight_.empty() && again_.empty())
    return;
  auto rule = model().settings.batching;
  rule.max_rows = rows;
  rule.work_conserving = true;
  auto given = std::make_shared<handover>();
  given->items = queue_.take(rule, batching::device_view{}, now());
  if (given->items.empty())
    return;
  for (const auto& item : given->items)
    item.job->queued_at = 0;
  if (!tell<batcher_actor>(*shared_, idle, taken_atom_v, given))
    for (auto& item : given->items)
      wait(std::move(item));
  dispatch();
  leave_if_done();
}

void batcher_state::taken(const handover& given) {
  const auto& settings = model().settings;
  const auto most = settings.max_queue_rows + settings.batching.max_rows;
  std::vector<waiting::item> to_others;
  for (auto item : given.items) {
    if (leaving_) {
      send_back(*shared_, item.job);
      continue;
    }
    item.job->where = what_->where;
    if (!what_->where->fit()) // since
      to_others.push_back(std::move(item));
    else if (queue_.rows() > 0 && queue_.rows() + item.rows > most)
      item.job->fail_with(
          errc::resource_exhausted,
          fmt::format("model {}: the device that it waited for failed, the queue of "
                      "the next one is full",
                      model().name),
          1000);
    else if (item.job->attempts > 0) {
      item.job->queued_at = what_->where->entry;
      again_.push_back(item.job);
    } else
      wait(std::move(item));
  }
  pass_on(std::move(to_others));
  dispatch();
}

} // namespace troupe::actors
