#pragma once

// The seam between those who decide (batcher, device, storage actors) and the engine: a model
// version made ready on one device. The engine's models implement it; tests bring their own.

#include "kernels/device/device.hpp"
#include "runtime/exec/signature.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::placement {

/// A plan bound to memory, for one batch at a time. Belongs to one thread at a time.
class run {
public:
  virtual ~run() = default;
  /// `arena` has at least the program's `arena_bytes`, aligned to 64, and is of the device's
  /// memory.
  virtual void bind(std::byte* arena) = 0;
  /// Row-major, of the program's sizes, alive until the work is done; the device's memory.
  virtual void set_input(std::size_t index, const std::byte* data) = 0;
  virtual void set_output(std::size_t index, std::byte* data) = 0;
  /// Only inside the stream's `issue`.
  [[nodiscard]] virtual result<void> launch(stream& on) = 0;
  /// Of a program whose outputs are not known beforehand, instead of all the above: the inputs in
  /// signature order, the outputs with memory of their own. `stopped` says whether nobody waits any
  /// more. Only inside the stream's `issue`.
  [[nodiscard]] virtual result<std::vector<tensor>> compute(std::vector<tensor> inputs, stream& on,
                                                            const std::function<bool()>& stopped);
};

/// A plan for one set of input shapes. Immutable and shared.
class program {
public:
  virtual ~program() = default;
  [[nodiscard]] virtual std::span<const tensor_desc> inputs() const noexcept = 0;
  [[nodiscard]] virtual std::span<const tensor_desc> outputs() const noexcept = 0;
  /// False where types and dims of outputs show when it runs: `outputs` is empty, runs `compute`.
  [[nodiscard]] virtual bool outputs_known() const noexcept { return true; }
  [[nodiscard]] virtual std::size_t arena_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::unique_ptr<run> make_run() const = 0;
};

/// A loaded model on one device. Any thread.
class executable {
public:
  virtual ~executable() = default;

  /// As the model file declares it.
  [[nodiscard]] virtual const signature& io() const noexcept = 0;
  [[nodiscard]] virtual bool rows_independent() const noexcept = 0;
  [[nodiscard]] virtual std::string why_rows_depend() const = 0;
  [[nodiscard]] virtual device& on() const noexcept = 0;
  [[nodiscard]] virtual std::size_t weight_bytes() const noexcept = 0;

  /// The program for exactly these input dims (in signature order), or null. Never slow.
  [[nodiscard]] virtual std::shared_ptr<const program> find(std::span<const shape> dims) const = 0;
  /// The same, made on a miss. Milliseconds: never on a device's thread.
  [[nodiscard]] virtual result<std::shared_ptr<const program>>
  prepare(std::span<const shape> dims) = 0;
  /// Whether `find` would still give this very program: what is kept for one that it would not is
  /// kept for nothing.
  [[nodiscard]] virtual bool caches(const program& wanted) const = 0;
  /// The smallest batch bucket that holds `rows`.
  [[nodiscard]] virtual std::int64_t bucket_for(std::int64_t rows) const noexcept = 0;
};

inline result<std::vector<tensor>> run::compute(std::vector<tensor>, stream&,
                                                const std::function<bool()>&) {
  return fail(errc::internal, "the program's outputs are known beforehand: launch it");
}

} // namespace troupe::placement
