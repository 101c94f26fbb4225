#pragma once

#include "actors/payload_file.hpp"
#include "kernels/base/result.hpp"
#include "protocol/inference.hpp"
#include "runtime/capture/record.hpp"

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// How much of the requests' inputs is kept; what does not fit is left out.
struct payload_bounds {
  std::size_t waiting_bytes = std::size_t{256} << 20; ///< in memory, until written
  std::uint64_t file_bytes = std::uint64_t{16} << 30;
};

/// Writes what happens to a file, on a thread of its own. Thread-safe, and never waits for the
/// disk: what does not fit into the buffer is left out, and the file says how much that was.
class capture_recorder {
public:
  /// Begins the file anew with this header; its time begins now, by `clock`. With bounds for
  /// payloads also FILE.requests.
  [[nodiscard]] static result<std::shared_ptr<capture_recorder>>
  open(const std::filesystem::path& file, std::shared_ptr<const clock_source> clock,
       const capture::header& about, std::optional<payload_bounds> payloads = {});
  ~capture_recorder(); ///< writes what is left

  /// Gives the model its number.
  [[nodiscard]] std::uint32_t add_model(capture::model what);
  /// The number of a shape, by the hash that requests for one batch share; `describe` is asked for
  /// its inputs when it is new.
  template <class Describe>
  [[nodiscard]] std::uint32_t shape_number(std::size_t hash, Describe describe) {
    const std::lock_guard lock{mutex_};
    if (const auto known = shapes_.find(hash); known != shapes_.end())
      return known->second;
    if (shapes_.size() == most_shapes)
      return 0;
    const auto number = static_cast<std::uint32_t>(shapes_.size() + 1);
    shapes_.emplace(hash, number);
    push(capture::shape_of_inputs{number, describe()});
    return number;
  }
  /// Zero if it has none.
  [[nodiscard]] std::uint32_t known_shape(std::size_t hash) const;

  /// Gives the request its number. `at` and the other times here are the clock's.
  [[nodiscard]] std::uint64_t asked(capture::ask what, time_point at);
  [[nodiscard]] bool keeps_payloads() const noexcept { return payloads_ != nullptr; }
  /// The request of this number, for whoever asks again, if payloads are kept. Its tensors are
  /// shared until they are written; those without an owner are copied.
  void keep(std::uint64_t number, protocol::inference_request asked);
  void turned_away(std::size_t bytes);
  void ran(capture::run what, time_point began);
  void ended(capture::end what);

private:
  static constexpr std::size_t most_shapes = 4096;
  static constexpr std::size_t most_waiting = std::size_t{1} << 16; ///< records

  capture_recorder(std::ofstream file, std::unique_ptr<payload_file> payloads,
                   payload_bounds bounds, std::shared_ptr<const clock_source> clock);

  void push(capture::record what); ///< `mutex_` is held
  void add(capture::record what);
  [[nodiscard]] duration since_begin(time_point at) const noexcept;
  void write_on();
  void write_lines(const std::string& text);
  void write_payloads(std::vector<protocol::rpc::outgoing_frame>& taken);

  std::ofstream file_; ///< the writer's, as `payloads_`
  bool failed_ = false;
  std::unique_ptr<payload_file> payloads_; ///< null: not asked for
  bool payloads_failed_ = false;
  const payload_bounds bounds_;
  std::shared_ptr<const clock_source> clock_;
  time_point begin_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<capture::record> waiting_;
  std::uint64_t lost_ = 0;                            ///< records since the last that had room
  std::vector<protocol::rpc::outgoing_frame> frames_; ///< that wait
  std::size_t frame_bytes_ = 0;                       ///< of those not yet written
  std::uint64_t room_ = 0;                            ///< bytes that the file may yet take
  std::uint64_t payloads_lost_ = 0;                   ///< requests since the last that had room
  std::unordered_map<std::size_t, std::uint32_t> shapes_;
  std::uint32_t models_ = 0;
  std::uint64_t requests_ = 0;
  bool closing_ = false;
  std::thread writer_;
};

} // namespace troupe::actors
