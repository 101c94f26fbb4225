#pragma once

// The inside of the simulated device: its engine, and the streams that queue on it.

#include "kernels/sim/sim_device.hpp"

#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

namespace troupe::sim {

/// What all streams of a device share: the order in which submits are issued, when the device is
/// free again, and which submits fail.
class engine {
public:
  /// `apart`: null where the host sees the device's memory.
  engine(sim_options options, bool real, std::shared_ptr<apart_memory> apart)
      : options_{std::move(options)}, real_{real}, apart_{std::move(apart)} {}

  [[nodiscard]] timeline& time() const noexcept { return *options_.time; }
  [[nodiscard]] bool is_real() const noexcept { return real_; }
  [[nodiscard]] apart_memory* apart() const noexcept { return apart_.get(); }

  /// The next submit's failure, if it is to fail.
  [[nodiscard]] std::optional<error> next_failure();
  /// Books `rows` rows and `extra` time behind everything booked so far; answers when they are
  /// finished. No rows mean that no kernel was launched, and take no time.
  [[nodiscard]] time_point book(std::optional<std::int64_t> rows, duration extra);

private:
  sim_options options_;
  bool real_;
  std::shared_ptr<apart_memory> apart_;
  std::mutex mutex_;
  time_point free_at_{};
  std::uint64_t submits_ = 0;
};

/// The stream that `issue` sees. Outlives the user's handle until its last `done` was called.
class stream_core final : public stream, public std::enable_shared_from_this<stream_core> {
public:
  stream_core(stream_mode mode, std::shared_ptr<engine> on) : mode_{mode}, engine_{std::move(on)} {}

  void submit(issue_fn issue, done_fn done) override;
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
  result<std::unique_ptr<event>> record() override;
  void synchronize() override;

  /// Called by a kernel while it is launched.
  void count_rows(std::int64_t rows);
  /// Likewise: `internal` where an output is not the device's memory.
  [[nodiscard]] result<void> check_writes(std::span<const tensor_view> outputs) const;
  /// By whoever launches something that is no kernel.
  void spend(duration time) { extra_ += time; }

  [[nodiscard]] bool finished(std::uint64_t point) const;
  void wait_for(std::uint64_t point) const;

private:
  /// Bytes on their way to the host.
  struct landing {
    std::byte* at;
    std::vector<std::byte> bytes;
  };
  struct issued {
    result<void> outcome;
    time_point finished_at;
    std::vector<landing> landings;
  };
  issued issue_now(const issue_fn& issue);
  void finish(const done_fn& done, issued what);

  stream_mode mode_;
  std::shared_ptr<engine> engine_;
  std::optional<std::int64_t> rows_; ///< of the submit being issued
  duration extra_{0};                ///< likewise
  std::vector<landing> landings_;    ///< likewise
  mutable std::mutex mutex_;
  mutable std::condition_variable progress_;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
};

[[nodiscard]] std::unique_ptr<stream> open_sim_stream(stream_mode mode, std::shared_ptr<engine> on);

} // namespace troupe::sim
