#pragma once

// One client of the msgpack protocol: a coroutine that reads frames, a writer that gathers what is
// queued into one call, and a watchdog for both. Everything but start, drain and abort runs on the
// socket's strand. Private to protocol/.

#include "protocol/msgpack/dispatcher.hpp"
#include "protocol/net/tcp_server.hpp"

#include <boost/asio/awaitable.hpp>

#include <array>
#include <deque>
#include <memory>
#include <vector>

namespace troupe::protocol::rpc {

class connection final : public net::peer, public std::enable_shared_from_this<connection> {
public:
  connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
             net::membership member, service& behind, const limits& bounds);

  void start() override;
  void drain() override;
  void abort() override;

private:
  enum class frame_end { complete, peer_left, broken };
  template <class T>
  using awaitable = boost::asio::awaitable<T>;

  awaitable<void> run(std::shared_ptr<connection> self);
  awaitable<void> read_frames();
  awaitable<frame_end> read_frame();
  awaitable<bool> read_head();
  awaitable<bool> read_payload();
  awaitable<bool> fill();
  awaitable<void> wait_for_room();
  awaitable<void> say_goodbye();

  void frame_begins();
  [[nodiscard]] frame_head head() const;
  void send(outgoing_frame frame);
  void write();
  [[nodiscard]] bool flushed() const noexcept;
  void leave_if_drained();
  void watch();
  void on_watch();
  void close();

  net::membership member_; ///< first, so that the server is told last
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<net::gate> gate_;
  service& service_;
  limits bounds_;
  std::shared_ptr<dispatcher> dispatcher_;

  std::vector<std::byte> in_; ///< received and not yet consumed: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  frame_scanner scanner_;
  std::vector<std::byte> head_; ///< of the frame being received
  bool in_frame_ = false;

  std::deque<outgoing_frame> queue_;
  std::vector<outgoing_frame> sending_;
  std::size_t unsent_ = 0; ///< bytes in both
  bool paused_ = false;    ///< unsent_ has passed its limit and not yet fallen to half of it
  bool draining_ = false;
  bool leaving_ = false; ///< no more frames are read

  boost::asio::steady_timer event_; ///< cancelled whenever room or flushing may have changed
  boost::asio::steady_timer watchdog_;
  bool watching_ = false;
  bool late_ = false; ///< the frame being received took too long
  time_point read_deadline_ = time_point::max();
  time_point write_deadline_ = time_point::max();
};

} // namespace troupe::protocol::rpc
