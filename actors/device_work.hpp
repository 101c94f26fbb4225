#pragma once

#include "actors/batch.hpp"
#include "kernels/base/small_vector.hpp"
#include "kernels/device/device.hpp"
#include "runtime/placement/executable.hpp"
#include "runtime/store/lease.hpp"

#include <memory>
#include <vector>

namespace troupe::actors {

/// One batch on its way through a stream: how its rows are laid onto runs of a program, and where
/// inputs and outputs lie. The device's actor prepares it, the stream's thread works on it, the
/// actor takes the outputs: never two at a time.
class device_work {
public:
  /// `program` is planned for `bucket` rows (0: the model does not batch, the one job's dims are
  /// the program's); more rows than that take several runs, one after the other in the same memory.
  device_work(batch_ptr of, std::shared_ptr<const placement::program> program, std::int64_t bucket,
              const device_properties& on);

  /// The device memory that the lease must have. 0: none needed.
  [[nodiscard]] std::size_t device_bytes() const noexcept { return device_bytes_; }
  void set_lease(std::shared_ptr<store::lease> held) { lease_ = std::move(held); }
  [[nodiscard]] bool has_lease() const noexcept { return lease_ != nullptr; }
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
  [[nodiscard]] std::shared_ptr<store::lease> take_lease() noexcept { return std::move(lease_); }
  [[nodiscard]] std::unique_ptr<placement::run> take_run() noexcept { return std::move(run_); }
  [[nodiscard]] std::vector<tensor> outputs() const;

  time_point started{}; ///< written by the stream's thread
  time_point ended{};

private:
  [[nodiscard]] const std::byte* in_place(std::size_t input, std::int64_t first) const;
  [[nodiscard]] tensor as_it_runs(const job::impl& of, std::size_t input, std::int64_t first,
                                  std::int64_t count);
  [[nodiscard]] result<void> gather(stream& on, std::size_t input, std::int64_t first);
  [[nodiscard]] const tensor* filler(std::size_t input) const;
  [[nodiscard]] result<void> keep_states(stream& on, std::int64_t first) const;
  [[nodiscard]] result<void> one_run(stream& on, std::int64_t run);
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] result<void> compute(stream& on);

  batch_ptr batch_;
  std::shared_ptr<const placement::program> program_;
  std::int64_t bucket_;
  std::int64_t runs_ = 1;
  bool host_visible_;
  std::size_t device_bytes_ = 0;
  using offsets = small_vector<std::size_t, 4>;
  offsets input_at_;  ///< into the lease
  offsets output_at_; ///< into the lease, where the host cannot see it
  offsets host_at_;   ///< into the outputs' block
  std::shared_ptr<std::byte[]> host_block_;
  std::shared_ptr<store::lease> lease_;
  std::unique_ptr<placement::run> run_;
  std::vector<tensor> padded_;   ///< inputs that had to grow: alive until the work is done
  std::vector<tensor> computed_; ///< where the outputs were not known before
};

} // namespace troupe::actors
