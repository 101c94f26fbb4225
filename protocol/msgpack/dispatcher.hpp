#pragma once

#include "protocol/msgpack/frame.hpp"
#include "protocol/msgpack/frame_reader.hpp"
#include "protocol/service.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace troupe::protocol::rpc {

/// The requests of one connection: what each method does, which calls are in flight, and where the
/// payloads of the frame being received go. Knows no sockets. Used on the connection's strand
/// alone.
class dispatcher final : public frame_sink, public std::enable_shared_from_this<dispatcher> {
public:
  /// On the strand.
  using send_fn = std::function<void(outgoing_frame)>;
  /// From any thread: runs the task on the strand, later; or drops it if the connection is gone.
  using post_fn = std::function<void(std::function<void()>)>;

  dispatcher(service& behind, send_fn send, post_fn post);

  /// A refused request is answered here, before its payload has arrived.
  [[nodiscard]] result<void> open(const frame_head& head) override;
  [[nodiscard]] std::byte* place_payload(std::uint64_t bytes) override;
  /// Calls the service.
  void finish(const frame_head& head) override;
  /// The frame will never be complete: says why, as the answer of its request where that has none
  /// yet, else as a notification.
  void break_off(const frame_scanner& scanner, bool opened, const error& failure);

  /// From now on new work is answered with unavailable.
  void refuse_new() noexcept { refusing_ = true; }
  void cancel_all() noexcept;
  [[nodiscard]] std::size_t in_flight() const noexcept { return calls_.size(); }

private:
  struct receiving {
    std::uint32_t id = 0;
    request_header header;
    admission units;
    std::size_t next = 0; ///< payload
  };

  void open_infer(const frame_head& head);
  void call_infer(receiving complete);
  void call_health(std::uint32_t id, model_reference about);
  void call_method(std::uint32_t id, const std::string& method, value_bytes params);
  bool cancel(std::uint32_t id) noexcept;
  void answer(std::uint32_t id, outgoing_frame frame);
  void answer(std::uint32_t id, const error& failure);
  void on_part(std::uint32_t id, response_part part, bool final);

  template <class T>
  service::answer<T> reply_to(std::uint32_t id);

  service& service_;
  send_fn send_;
  post_fn post_;
  std::unordered_map<std::uint32_t, std::shared_ptr<call>> calls_; ///< null for other methods
  std::optional<receiving> receiving_;
  bool refusing_ = false;
};

} // namespace troupe::protocol::rpc
