#pragma once

// The embedding API: everything a program needs to serve models inside its own process and to put
// stages of its own in front of them. Free of CAF; link troupe::troupe.

#include "kernels/base/result.hpp"
#include "protocol/inference.hpp"
#include "protocol/service.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::protocol {
class listener;
}

namespace troupe {

using protocol::inference_request;
using protocol::inference_response;
using protocol::named_tensor;
using protocol::response_part;

/// How a queue of requests becomes batches, unless a model's configuration says otherwise.
struct batching_options {
  std::string preset = "auto";            ///< "auto", "latency", "throughput" or "explicit"
  std::int64_t min_batch = 1;             ///< explicit: rows worth leaving early for
  std::chrono::microseconds max_wait{0};  ///< explicit: longest wait of the oldest request
  std::int64_t max_batch = 256;           ///< rows of one batch
  std::chrono::milliseconds objective{0}; ///< from arrival to answer, which sizes keep to; 0: none
};

struct options {
  std::vector<std::string> devices{"cpu"}; ///< "cpu[:threads=N]", "sim[:launch_us=…,row_us=…]"
  std::filesystem::path model_repository;  ///< empty: models come through `load` alone
  bool load_all = true;                    ///< load the whole repository at start
  bool clients_may_load = true;            ///< `load` and `unload` through a protocol
  bool load_on_miss = false; ///< a model of the repository is loaded when it is first asked for
  std::filesystem::path
      tuning_file; ///< kernels are chosen by measuring; choices kept here. Empty: not
  std::filesystem::path capture_file; ///< arrivals, batches and their times; empty: not recorded
  /// Also what was asked, in FILE.requests. Inputs are then kept until they are written, which may
  /// be after the answer: their memory stays as it is for as long as it has owners.
  bool capture_payloads = false;
  std::uint64_t capture_payload_bytes = std::uint64_t{16} << 30; ///< of that file; then no more
  bool batch_invariant = false; ///< a row's bits do not depend on its batch or on threads
  batching_options batching;
  std::size_t max_requests = 4096;            ///< accepted and unanswered at once
  std::size_t max_request_bytes = 1ULL << 30; ///< payload of all of them together
  std::size_t max_queue_rows = 4096;          ///< per placement
  std::chrono::milliseconds default_deadline{60'000};
  std::size_t device_memory_bytes = 0; ///< budget per device; 0: what the machine has
  /// Page-locked host memory per device that copies from and to such; 0: a quarter of the device's,
  /// at most 512 MiB. A batch whose inputs and outputs together need more is refused.
  std::size_t pinned_memory_bytes = 0;
  std::size_t plan_memory_bytes = 0; ///< all plans together, about; 0: a 32nd of the first device's
  int device_failures = 3; ///< in a row, within a minute, that make a device unfit for work
  /// A device that takes longer than this for a batch, and than ten times what is usual for it, is
  /// given up and restarted.
  std::chrono::milliseconds device_silence{30'000};
  int scheduler_threads = 2;
};

/// A request inside a stage, with its admission units, deadline and cancellation. Move-only. A job
/// that is dropped answers `internal`: exactly one final reply leaves in every case.
class job {
public:
  struct impl;
  explicit job(std::shared_ptr<impl> held);
  job(job&&) noexcept;
  job& operator=(job&&) noexcept;
  ~job();

  [[nodiscard]] const inference_request& request() const noexcept;
  [[nodiscard]] inference_request& request() noexcept;
  /// The client left, or the deadline is over: further work is wasted.
  [[nodiscard]] bool cancelled() const noexcept;

  /// Answers. A second final answer is ignored.
  void reply(inference_response answer);
  void fail(error why);

  [[nodiscard]] const std::shared_ptr<impl>& held() const noexcept { return held_; }

private:
  std::shared_ptr<impl> held_;
};

/// What a stage may do besides answering. Only valid in calls on the stage, on its thread.
class stage_context {
public:
  virtual ~stage_context() = default;

  [[nodiscard]] virtual time_point now() const noexcept = 0;

  /// Runs another model as part of `parent`: deadline and cancellation are the parent's, and its
  /// units cover the sub-request, so that parents cannot starve their own children. So is the
  /// priority, unless the sub-request has its own. `done` is called once, on this stage's thread,
  /// never before `submit` returns.
  virtual void submit(const job& parent, inference_request request,
                      std::function<void(stage_context&, response_part)> done) = 0;

  /// The sub-requests of `parent` that are on their way are no longer wanted: they leave their
  /// queues, and their callbacks hear `cancelled`. For a parent that has been answered.
  virtual void abandon(const job& parent) = 0;

  /// Runs `work` on a pool for long computations, then `done` on this stage's thread: a stage's own
  /// calls stay short (well under a millisecond).
  virtual void offload(std::function<void()> work, std::function<void(stage_context&)> done) = 0;
};

/// A model made of code. One instance lives in one actor: its members need no locks. An exception
/// that leaves a call answers that job with `internal`; the stage is then made anew.
class stage {
public:
  virtual ~stage() = default;
  virtual void on_request(stage_context& context, job request) = 0;
};

using stage_factory = std::function<std::unique_ptr<stage>()>;

/// What clients see of a stage served as a model.
struct stage_signature {
  std::vector<protocol::tensor_metadata> inputs;
  std::vector<protocol::tensor_metadata> outputs;
};

/// A running actor system with its devices and models. Thread-safe: any thread may call anything
/// but the destructor. Several may live in one process, beside the program's own Asio loops and
/// actor systems; docs/embedding.md says what they share. Ways to wait for an answer, besides a
/// callback and a future: awaitable.hpp (any coroutine), asio.hpp (any completion token of Asio's).
class runtime {
public:
  [[nodiscard]] static result<std::unique_ptr<runtime>> start(options with = {});
  ~runtime(); ///< stop(5 s)

  /// Loads a model: an ONNX file, or a directory laid out as in a repository; or a pipeline: a TOML
  /// file, whose models are loaded where they are not there. Blocks until it is warm.
  [[nodiscard]] result<void> load(const std::string& name, const std::filesystem::path& from);
  /// Loads or reloads a model of the repository.
  [[nodiscard]] result<void> load(const std::string& name);
  [[nodiscard]] result<void> unload(const std::string& name);
  /// Serves a stage under a name, like a model. already_exists if the name is taken.
  [[nodiscard]] result<void> add_stage(const std::string& name, stage_signature io,
                                       stage_factory make);

  /// Exactly one call of `done`, on a thread of the runtime's; it must not block.
  std::shared_ptr<protocol::call> infer(inference_request request,
                                        std::function<void(response_part)> done);
  [[nodiscard]] std::future<response_part> infer(inference_request request);

  [[nodiscard]] result<protocol::model_metadata> metadata(const std::string& model) const;
  /// Every model that is known, by name and version, with its state.
  [[nodiscard]] std::vector<protocol::model_index_entry> models() const;
  [[nodiscard]] std::vector<protocol::model_statistics>
  statistics(const std::string& model = {}) const;
  [[nodiscard]] bool ready() const noexcept;

  /// The same system for a protocol's connections.
  [[nodiscard]] protocol::service& service() noexcept;
  /// Starts a listener that was made with `service()` and keeps it until the stop; its port.
  [[nodiscard]] result<std::uint16_t> open(std::unique_ptr<protocol::listener> made);
  /// Not `ready` from now on, but still serving: what load balancers are to see before a stop.
  void set_unready() noexcept;

  /// Two phases: refuses new requests, answers those accepted until the deadline, ends the rest
  /// with `unavailable`. Returns when everything has stopped; later calls return at once.
  void stop(std::chrono::milliseconds drain = std::chrono::seconds{5});
  /// The stop, under way or to come, waits no longer for answers. Any thread.
  void hurry() noexcept;

private:
  struct impl;
  explicit runtime(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

} // namespace troupe
