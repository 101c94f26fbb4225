// How large batches become, and how long they are expected to take.

#include "actors/batcher_actor.hpp"

#include "runtime/batching/buckets.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::actors {

namespace {

// Of the objective: who is expected later than this is not let in.
constexpr double let_in = 0.9;

} // namespace

// By what the policy says, what the objective allows and what there was memory for.
std::int64_t batcher_state::most_rows(const batching::shape_key& of) const {
  auto most = model().settings.batching.max_rows;
  if (size_ && what_->where->load->measured())
    most = size_->rows([&](std::int64_t rows) { return expected_run(of, rows); });
  return memory_rows_ > 0 ? std::min(most, memory_rows_) : most;
}

// Where `fit` of `all` rows could leave together.
std::int64_t batcher_state::worth_running(const batching::shape_key& of, std::int64_t fit,
                                          std::int64_t all) const {
  if (!model().settings.batching.adapts || model().io.max_batch_size <= 0)
    return fit;
  return batching::worth_running(
      {fit, all, most_rows(of), arriving_.per_ns()},
      [this](std::int64_t size) { return padded(size); },
      [&](std::int64_t size) { return what_->where->load->measured_run(of.hash(), size); });
}

// What makes a batch full. While the device is busy it may be less than the most: where so many
// would leave when the device is free, even if twice as many wait by then as are to be expected,
// they need not wait for it here, and the device need not wait for them.
std::int64_t batcher_state::full_at(const batching::shape_key& of, time_point at) const {
  const auto most = most_rows(of);
  const auto on_device = device();
  if (!model().settings.batching.adapts || on_device.in_flight == 0
      || on_device.in_flight >= on_device.tickets || on_device.running_is_short)
    return most;
  const auto free_in = static_cast<double>((what_->where->load->free_at(at) - at).count());
  const auto coming = static_cast<std::int64_t>(std::ceil(arriving_.per_ns() * free_in));
  const auto all = 2 * (queue_.rows() + coming);
  return std::min(most, worth_running(of, std::min(most, all), all));
}

// What the device works for.
std::int64_t batcher_state::padded(std::int64_t rows) const {
  return model().io.max_batch_size > 0 ? what_->where->runs->bucket_for(rows) : rows;
}

// More than a batch may have are several.
duration batcher_state::expected_run(const batching::shape_key& of, std::int64_t rows) const {
  const auto& load = *what_->where->load;
  const auto most = std::max<std::int64_t>(model().settings.batching.max_rows, 1);
  if (rows <= most)
    return load.estimated_run(of.hash(), padded(rows));
  const auto whole = load.estimated_run(of.hash(), padded(most)) * (rows / most);
  return rows % most == 0 ? whole : whole + load.estimated_run(of.hash(), padded(rows % most));
}

// When one that comes now is answered, behind all that waits. Its batch takes in who comes until it
// leaves.
time_point batcher_state::expected_answer(const job::impl& asked, time_point at) const {
  if (!size_)
    return at;
  const auto most = std::max<std::int64_t>(most_rows(asked.key), 1);
  const auto rows = queue_.rows() + asked.rows;
  const auto before = (rows - 1) / most;
  const auto& load = *what_->where->load;
  const auto one = padded(1);
  const auto shape = asked.key.hash();
  const auto device_free =
      load.estimated_completion_after(0, shape, one, at) - load.estimated_run(shape, one);
  // One by one where that is quicker: what larger ones take may have been measured in a bad moment.
  const auto quickest = [&](std::int64_t count) {
    return std::min(expected_run(asked.key, count), expected_run(asked.key, 1) * count);
  };
  const auto starts = device_free + quickest(most) * before;
  const auto joining = static_cast<std::int64_t>(
      arriving_.per_ns() * static_cast<double>(std::max(starts - at, duration{0}).count()));
  return starts + quickest(std::min(most, rows - before * most + joining));
}

// Who says by when the answer is needed is held to that; what a stage asks for was let in with its
// parent. Where nothing waits nobody is in the way.
bool batcher_state::misses_objective(const job::impl& asked, time_point answered) const {
  const auto objective = model().settings.batching.objective;
  if (!size_ || asked.request.deadline || asked.parent || queue_.empty())
    return false;
  return std::chrono::duration<double>(answered - asked.at.accepted)
         > std::chrono::duration<double>(objective) * let_in;
}

} // namespace troupe::actors
