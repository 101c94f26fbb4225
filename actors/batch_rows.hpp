#pragma once

#include "actors/batch.hpp"
#include "runtime/placement/executable.hpp"

#include <functional>
#include <vector>

namespace troupe::actors {

/// The inputs of a batch as the runs of a program read them: each run's rows one behind the other,
/// those that are too short padded, and the last of them again where the batch does not fill a run.
/// One thread at a time.
class batch_rows {
public:
  /// Bytes that follow each other in the run, where they are now. `on_device`: in the device's
  /// memory, as states of sequences are; otherwise in the host's.
  using piece_fn =
      std::function<result<void>(const std::byte* from, std::size_t bytes, bool on_device)>;

  /// `bucket` rows a run; 0: the model does not batch, the run is the one job. Batch and program
  /// outlive this.
  batch_rows(const batch& of, const placement::program& program, std::int64_t bucket)
      : batch_(&of), program_(&program), bucket_(bucket) {}

  /// Where the rows from `first` on lie together and aligned in one job's payload; null where they
  /// do not.
  [[nodiscard]] const std::byte* in_place(std::size_t input, std::int64_t first) const;

  /// Names the pieces of the rows from `first` on, in order, up to the first error. They stay where
  /// they are as long as this lives.
  [[nodiscard]] result<void> each_piece(std::size_t input, std::int64_t first,
                                        const piece_fn& piece);

  /// Rows of a job's input, padded where its length is not the batch's.
  [[nodiscard]] tensor as_it_runs(const job::impl& of, std::size_t input, std::int64_t first,
                                  std::int64_t count);

private:
  [[nodiscard]] const tensor* filler(std::size_t input) const;

  const batch* batch_;
  const placement::program* program_;
  std::int64_t bucket_;
  std::vector<tensor> padded_; ///< inputs that had to grow
};

} // namespace troupe::actors
