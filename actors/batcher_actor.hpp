#pragma once

#include "actors/alarm.hpp"
#include "actors/commons.hpp"
#include "actors/interfaces.hpp"
#include "runtime/batching/adaptive_size.hpp"
#include "runtime/batching/arrival_rate.hpp"
#include "runtime/batching/queue.hpp"
#include "runtime/sequences/table.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <optional>
#include <unordered_map>

namespace troupe::actors {

/// Owns the queue of one placement and the table of what its device holds.
class batcher_state {
public:
  static inline const char* name = "batcher";

  explicit batcher_state(batcher_actor::pointer self) : self_(self) {}

  batcher_actor::behavior_type make_behavior(commons_ptr shared, place_order_ptr what, int tickets);

private:
  using waiting = batching::queue<job_ptr>;
  using sequence_table = sequences::table<job_ptr, lease_ptr>;

  void enqueue(const job_ptr& asked);
  [[nodiscard]] waiting::item item_of(const job_ptr& asked, time_point at) const;
  [[nodiscard]] result<void> room_for(const job::impl& asked, const waiting::item& next) const;
  void wait(waiting::item next);

  // Sizes and times of batches (batcher_sizes.cpp).
  [[nodiscard]] std::int64_t most_rows(const batching::shape_key& of) const;
  [[nodiscard]] std::int64_t worth_running(const batching::shape_key& of, std::int64_t fit,
                                           std::int64_t all) const;
  [[nodiscard]] std::int64_t full_at(const batching::shape_key& of, time_point at) const;
  [[nodiscard]] std::int64_t padded(std::int64_t rows) const;
  [[nodiscard]] duration expected_run(const batching::shape_key& of, std::int64_t rows) const;
  [[nodiscard]] time_point expected_answer(const job::impl& asked, time_point at) const;
  [[nodiscard]] bool misses_objective(const job::impl& asked, time_point answered) const;

  void dispatch() { dispatch(now()); }
  void dispatch(time_point at);
  bool run_again(time_point at);
  void wake_for_next();
  void send(std::vector<job_ptr> jobs, time_point at);
  void finished(const batch_outcome& outcome);
  void failed(const batch& what, const error& why);
  void device_down();
  [[nodiscard]] error unfit() const;
  void pass_on_all();
  void pass_on(std::vector<waiting::item> items);
  void cancel(const job_ptr& unwanted);
  void drop_what_is_over(time_point at);
  void wake_at(time_point at);
  void retire();
  void leave_if_done();
  void end();
  [[nodiscard]] std::int64_t rows_waiting() const;
  void report_depth();
  void set_tickets(int count);

  // Of a stateful model (batcher_sequences.cpp).
  void begin_sequences();
  void enqueue_step(const job_ptr& asked);
  void follow_sequences();
  void ask_for_state(const sequence_table::memory_wish& wish);
  void step_over(const job_ptr& which, bool ran);

  // With the other placements of the model (batcher_relief.cpp).
  void share_work();
  void relieve(stage_id idle, std::int64_t rows);
  void taken(const handover& given);
  [[nodiscard]] batching::device_view device() const;
  [[nodiscard]] const served_model& model() const noexcept { return *what_->model; }
  [[nodiscard]] time_point now() const noexcept { return shared_->clock->now(); }

  batcher_actor::pointer self_;
  commons_ptr shared_;
  place_order_ptr what_;
  int tickets_ = 0;         ///< 0 while the device is down
  std::size_t self_at_ = 0; ///< among the model's placements
  waiting queue_;
  std::optional<batching::adaptive_size> size_; ///< of batches, where the policy learns it
  batching::arrival_rate arriving_;
  std::int64_t memory_rows_ = 0; ///< of a batch that its device had memory for; 0: any so far
  std::deque<job_ptr> again_;    ///< members of failed batches: each runs alone, once
  std::optional<sequence_table> sequences_; ///< of a stateful model: what is not in the queue yet
  std::unordered_map<std::uint64_t, batch_ptr> in_flight_;
  alarm alarm_;
  bool retiring_ = false; ///< no further jobs are routed here
  bool lingered_ = false; ///< and those that were on their way have come
  bool leaving_ = false;  ///< with nothing left to do: who still comes is sent back
};

/// Spawn with `sys.spawn(batcher, shared, order, tickets)`.
batcher_actor::behavior_type batcher(batcher_actor::stateful_pointer<batcher_state> self,
                                     commons_ptr shared, place_order_ptr what, int tickets);

} // namespace troupe::actors
