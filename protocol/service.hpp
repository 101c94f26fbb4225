#pragma once

// What a connection may ask of the system behind it. Protocols are written against this interface
// and tested with a fake; actors/ implements it.

#include "protocol/inference.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::protocol {

/// Units of the server's budget (one request, so many bytes), given back by the destructor.
/// Move-only; travels inside the request until its final reply.
class admission {
public:
  admission() = default;
  explicit admission(std::function<void()> release) : release_(std::move(release)) {}
  admission(admission&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
  admission& operator=(admission&& other) noexcept {
    std::swap(release_, other.release_);
    return *this;
  }
  ~admission() {
    if (release_)
      release_();
  }

private:
  std::function<void()> release_;
};

/// A request on its way. Dropping the handle does not cancel.
class call {
public:
  virtual ~call() = default;
  /// The client left or asked for it. Any thread; harmless after the final part.
  virtual void cancel() noexcept = 0;
};

struct tensor_metadata {
  std::string name;
  std::string datatype;
  std::vector<std::int64_t> shape; ///< -1 is free
};

struct model_metadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;
  std::vector<tensor_metadata> inputs;
  std::vector<tensor_metadata> outputs;
  /// What the model file says about itself: an ONNX file's metadata_props, such as the characters a
  /// recogniser knows. KServe's metadata response carries them as `properties`.
  std::map<std::string, std::string, std::less<>> properties{};
};

struct model_index_entry {
  std::string name;
  std::string version;
  std::string state; ///< READY, LOADING, UNLOADING, UNAVAILABLE, UNKNOWN
  std::string reason;
};

struct duration_statistic {
  std::uint64_t count = 0;
  std::uint64_t ns = 0;
};

struct batch_statistic {
  std::uint64_t batch_size = 0; ///< rows
  duration_statistic compute_infer;
};

struct model_statistics {
  std::string name;
  std::string version;
  std::uint64_t inference_count = 0; ///< rows answered
  std::uint64_t execution_count = 0; ///< batches run
  std::uint64_t live_sequences = 0;  ///< of a stateful model, at this moment
  duration_statistic success;
  duration_statistic fail;
  duration_statistic queue;
  duration_statistic compute_input;
  duration_statistic compute_infer;
  duration_statistic compute_output;
  std::vector<batch_statistic> batches;
};

/// Thread-safe. Callbacks come on a thread of the system's and must not block; a connection posts
/// to its own executor from there.
class service {
public:
  using part_fn = std::function<void(response_part part, bool final)>;
  template <class T>
  using answer = std::function<void(result<T>)>;

  virtual ~service() = default;

  /// Units for a request of so many payload bytes, or resource_exhausted (queue full), unavailable
  /// (draining). Microseconds; asked before the payload is read.
  [[nodiscard]] virtual result<admission> admit(std::size_t bytes) = 0;

  /// Any number of parts, exactly one of them final; an error is always final. May call `on_part`
  /// before it returns.
  virtual std::shared_ptr<call> infer(inference_request request, admission units,
                                      part_fn on_part) = 0;

  [[nodiscard]] virtual bool live() const noexcept = 0;
  /// Whether the server takes requests: everything to be loaded at start is, and it is not
  /// draining.
  [[nodiscard]] virtual bool ready() const noexcept = 0;

  /// not_found for an unknown model or version; an empty version means the server's choice.
  virtual void metadata(std::string model, std::string version, answer<model_metadata> done) = 0;
  virtual void model_ready(std::string model, std::string version, answer<bool> done) = 0;
  virtual void index(answer<std::vector<model_index_entry>> done) = 0;
  /// An empty model means all.
  virtual void statistics(std::string model, answer<std::vector<model_statistics>> done) = 0;
  virtual void load(std::string model, answer<void> done) = 0;
  virtual void unload(std::string model, answer<void> done) = 0;
};

} // namespace troupe::protocol
