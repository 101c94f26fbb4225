#pragma once

// A device whose memory the host cannot see is fast at copying large blocks from and to page-locked
// memory, and slow at anything else. The rows of a batch are gathered in such a block by the host
// and go over in one copy an input; outputs come back the same way. They are copied out of it
// before they are answered: an answer may lie in a slow client's queue, the block is for the next
// batch.

#include "actors/batch_rows.hpp"
#include "kernels/base/small_vector.hpp"
#include "kernels/device/device.hpp"

#include <cstdint>
#include <memory>

namespace troupe::actors {

/// Rounded up to the next place at which a tensor may begin.
[[nodiscard]] constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

/// What a tensor of so many bytes takes of a block. One without elements has a place, too.
[[nodiscard]] constexpr std::size_t room_for(std::size_t bytes) noexcept {
  return aligned(bytes > 0 ? bytes : 1);
}

/// Where the inputs and outputs of a batch lie in the block through which they are copied. Inputs
/// have room for every run, since a copy reads it until the work is done.
class staging {
public:
  /// Of `runs` runs of the program.
  staging(const placement::program& of, std::int64_t runs);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Gathers a run's rows in `block` and copies them to the device at `to`. Rows that lie on the
  /// device already are copied there. Only inside the stream's `issue`.
  [[nodiscard]] result<void> send(stream& on, batch_rows& rows, std::byte* block, std::size_t input,
                                  std::int64_t run, std::int64_t first, std::byte* to) const;
  /// Copies the first `bytes` of a run's output from the device at `from`. Likewise.
  [[nodiscard]] result<void> fetch(stream& on, std::byte* block, std::size_t output,
                                   std::int64_t run, const std::byte* from,
                                   std::size_t bytes) const;
  /// Where a run's output lies when that work is done.
  [[nodiscard]] std::size_t output_at(std::size_t output, std::int64_t run) const {
    return outputs_[output].at + static_cast<std::size_t>(run) * outputs_[output].bytes;
  }

private:
  struct place {
    std::size_t at;
    std::size_t bytes; ///< of one run
  };

  small_vector<place, 4> inputs_;
  small_vector<place, 4> outputs_;
  std::size_t bytes_ = 0;
};

} // namespace troupe::actors
