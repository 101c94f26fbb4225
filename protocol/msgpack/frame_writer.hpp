#pragma once

// Sends frames in order, gathering what is queued into one call. Used by servers and clients.
// Includes Asio.

#include "protocol/msgpack/frame.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace troupe::protocol::rpc {

/// Used on the socket's executor alone.
class frame_writer {
public:
  /// `on_progress` is called whenever the peer has taken some bytes, `on_sent` when what was handed
  /// over in one call is gone, with an error if the socket failed.
  frame_writer(boost::asio::ip::tcp::socket& to, std::function<void()> on_progress,
               std::function<void(const boost::system::error_code&)> on_sent);

  /// Queues a frame. `owner` is kept while something is being sent; it owns the socket and this.
  void send(outgoing_frame frame, const std::shared_ptr<void>& owner);

  /// Bytes that are queued or being sent.
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_; }
  [[nodiscard]] bool flushed() const noexcept { return queue_.empty() && sending_.empty(); }

private:
  void write(std::shared_ptr<void> owner);

  boost::asio::ip::tcp::socket& socket_;
  std::function<void()> on_progress_;
  std::function<void(const boost::system::error_code&)> on_sent_;
  std::deque<outgoing_frame> queue_;
  std::vector<outgoing_frame> sending_;
  std::size_t unsent_ = 0;
};

} // namespace troupe::protocol::rpc
