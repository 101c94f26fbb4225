#pragma once

#include "actors/batch.hpp"
#include "actors/batch_rows.hpp"
#include "actors/staging.hpp"
#include "kernels/base/small_vector.hpp"
#include "kernels/device/device.hpp"
#include "runtime/placement/executable.hpp"
#include "runtime/store/lease.hpp"
#include "runtime/store/memory_kind.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace troupe::actors {

/// One batch on its way through a stream: how its rows are laid onto runs of a program, and where
/// inputs and outputs lie. The device's actor prepares it, the stream's thread works on it, the
/// actor takes the outputs: never two at a time.
class device_work {
public:
  using kind = store::memory_kind;

  /// `program` is planned for `bucket` rows (0: the model does not batch, the one job's dims are
  /// the program's); more rows than that take several runs, one after the other in the same memory.
  device_work(batch_ptr of, std::shared_ptr<const placement::program> program, std::int64_t bucket,
              const device_properties& on);

  /// The memory that a lease must have. 0: none needed.
  [[nodiscard]] std::size_t bytes(kind of) const noexcept { return bytes_[of]; }
  /// What it needs next before it can be submitted.
  [[nodiscard]] std::optional<kind> lacks() const noexcept;
  void set_lease(kind of, std::shared_ptr<store::lease> held) { leases_[of] = std::move(held); }
  void set_run(std::unique_ptr<placement::run> made) { run_ = std::move(made); }

  /// Gathers, launches and scatters; inside the stream's `issue`.
  [[nodiscard]] result<void> issue(stream& on);

  [[nodiscard]] const batch_ptr& of() const noexcept { return batch_; }
  [[nodiscard]] const std::shared_ptr<const placement::program>& program() const noexcept {
    return program_;
  }
  /// Rows of one run.
  [[nodiscard]] std::int64_t bucket() const noexcept { return bucket_; }
  /// Rows of all runs together, padding included: what the device works for.
  [[nodiscard]] std::int64_t rows_run() const noexcept {
    return (bucket_ > 0 ? bucket_ : 1) * runs_;
  }

  // After the work is done.
  /// In memory that is no lease's. The lease of the host's memory is needed for it.
  [[nodiscard]] std::vector<tensor> outputs() const;
  [[nodiscard]] std::shared_ptr<store::lease> take_lease(kind of) noexcept {
    return std::move(leases_[of]);
  }
  [[nodiscard]] std::unique_ptr<placement::run> take_run() noexcept { return std::move(run_); }

  time_point started{}; ///< written by the stream's thread
  time_point ended{};

private:
  [[nodiscard]] result<void> gather(stream& on, std::size_t input, std::int64_t first);
  [[nodiscard]] result<void> fetch(stream& on, std::int64_t run) const;
  [[nodiscard]] result<void> keep_states(stream& on, std::int64_t first) const;
  [[nodiscard]] result<void> one_run(stream& on, std::int64_t run);
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] result<void> compute(stream& on);
  [[nodiscard]] bool stays(std::size_t output) const;
  /// Of an output of `count` runs, without the rows that only fill the batch.
  [[nodiscard]] std::size_t wanted_bytes(std::size_t output, std::int64_t run,
                                         std::int64_t count) const;

  batch_ptr batch_;
  std::shared_ptr<const placement::program> program_;
  std::int64_t bucket_;
  std::int64_t runs_ = 1;
  store::per_memory<std::size_t> bytes_;
  using offsets = small_vector<std::size_t, 4>;
  offsets input_at_;  ///< into the lease
  offsets output_at_; ///< into the lease, where the host cannot see it
  offsets host_at_;   ///< into the outputs' block
  std::shared_ptr<std::byte[]> host_block_;
  store::per_memory<std::shared_ptr<store::lease>> leases_;
  std::unique_ptr<placement::run> run_;
  batch_rows rows_;
  std::optional<staging> staged_; ///< where the host cannot see the device's memory
  std::vector<tensor> computed_;  ///< where the outputs were not known before
};

} // namespace troupe::actors
