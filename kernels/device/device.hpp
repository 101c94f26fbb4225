#pragma once

#include "kernels/base/result.hpp"
#include "kernels/device/kernel.hpp"
#include "kernels/device/weight_cache.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A block of memory that a device handed out. Freed by its destructor.
class buffer {
public:
  virtual ~buffer() = default;
  /// Of the device's memory an address for its own kernels, which the host may dereference only if
  /// `host_visible`.
  [[nodiscard]] virtual std::byte* data() const noexcept = 0;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
};

/// A point in a stream's order. May be asked from any thread.
class event {
public:
  virtual ~event() = default;
  /// Whether everything before the point has finished. Does not block.
  [[nodiscard]] virtual bool ready() const = 0;
  /// Blocks until `ready`.
  virtual void wait() const = 0;
};

/// An ordered queue of work on one device.
class stream {
public:
  using issue_fn = std::function<result<void>(stream&)>;
  using done_fn = std::function<void(result<void>)>;

  virtual ~stream() = default;

  /// Calls `issue`, which launches kernels and copies on this stream, after the work of every
  /// earlier submit was issued; then `done` once that work has finished, with the first failure if
  /// there was one. Asynchronous: returns before. `done` runs on a thread of the device's and must
  /// not block. The one exception is a stream opened as `inline_`: there both run before submit
  /// returns.
  virtual void submit(issue_fn issue, done_fn done) = 0;

  /// Copies between the host and the device or within it, in stream order. Only inside `issue`.
  /// Asynchronous where the device is: both ranges stay valid until the work is done. A device
  /// whose memory the host cannot see may refuse host memory that is not of `allocate_host`.
  [[nodiscard]] virtual result<void> copy(std::byte* to, const std::byte* from,
                                          std::size_t bytes) = 0;

  /// An event behind all work submitted so far. Does not block.
  [[nodiscard]] virtual result<std::unique_ptr<event>> record() = 0;

  /// Blocks until everything submitted has finished. Never called on a device's own thread.
  virtual void synchronize() = 0;
};

enum class stream_mode : std::uint8_t {
  own_thread, ///< submit returns at once
  inline_,    ///< submit does the work on the calling thread: command line and tests
};

struct device_properties {
  std::string name;    ///< "cpu", "sim:0", …: as in --device
  std::string kind;    ///< "cpu", "sim", "cuda"
  std::string model{}; ///< what times measured on it hold for, such as the processor's name
  int threads = 1;     ///< of the kernel thread team; part of the plan key
  std::size_t memory_bytes = 0;
  bool host_visible = true;           ///< buffers may be dereferenced by the host
  bool computes_where_called = false; ///< an `inline_` stream does its work without a detour
  int tickets = 2;                    ///< batches worth having in flight at once
};

/// Something that computes. Shared by all threads; its streams are not.
class device {
public:
  virtual ~device() = default;

  [[nodiscard]] virtual const device_properties& properties() const noexcept = 0;

  /// resource_exhausted when the memory is not there. Blocks.
  [[nodiscard]] virtual result<std::unique_ptr<buffer>> allocate(std::size_t bytes) = 0;

  /// A block of the host's memory, aligned to `tensor_alignment`, that streams copy from and to at
  /// their best: page-locked where that counts, ordinary memory here. resource_exhausted when there
  /// is none left. Blocks.
  [[nodiscard]] virtual result<std::unique_ptr<buffer>> allocate_host(std::size_t bytes);

  [[nodiscard]] virtual result<std::unique_ptr<stream>> open_stream(stream_mode mode) = 0;

  [[nodiscard]] virtual layout_rule layouts(const kernel_spec& spec) const = 0;

  /// Names of the operator's candidates in the order they are tried. They may still decline.
  [[nodiscard]] virtual std::vector<std::string> candidates(const kernel_spec& /*spec*/) const {
    return {};
  }

  /// Walks the ordered candidate table, `spec.prefer` first. unimplemented when nobody takes the
  /// node; the text carries every reason. Slow (milliseconds): called by the planner, never between
  /// batches.
  [[nodiscard]] virtual result<kernel_choice> choose_kernel(const kernel_spec& spec,
                                                            weight_cache& weights) = 0;
};

} // namespace troupe
