#pragma once

// One client of the msgpack protocol: a coroutine that reads frames, a writer that gathers what is
// queued into one call, and a watchdog for both. Everything but start, drain and abort runs on the
// socket's strand. Private to protocol/.

#include "protocol/msgpack/dispatcher.hpp"
#include "protocol/msgpack/frame_writer.hpp"
#include "protocol/net/tcp_server.hpp"
#include "protocol/net/unsent.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace troupe::protocol::rpc {

class connection final : public net::peer, public std::enable_shared_from_this<connection> {
public:
  connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
             net::membership member, service& behind, const limits& bounds,
             std::shared_ptr<net::unsent_budget> unsent);

  void start() override;
  void drain() override;
  void abort() override;

private:
  template <class T>
  using awaitable = boost::asio::awaitable<T>;

  awaitable<void> run(std::shared_ptr<connection> self);
  awaitable<void> read_frames();
  awaitable<void> wait_for_room();
  awaitable<void> say_goodbye();

  void send(outgoing_frame frame);
  void on_sent(const boost::system::error_code& ec);
  void resume_if_there_is_room();
  void leave_if_drained();
  [[nodiscard]] time_point idle_deadline() const;
  [[nodiscard]] time_point write_deadline() const;
  void stop_reading();
  void watch();
  void on_watch();
  void close();

  net::membership member_; ///< first, so that the server is told last
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<net::gate> gate_;
  service& service_;
  limits bounds_;
  std::shared_ptr<dispatcher> dispatcher_;

  frame_reader reader_;

  frame_writer writer_;
  net::unsent_share unsent_;
  bool paused_ = false; ///< too much is unsent, and not yet down to half of that
  bool draining_ = false;
  bool leaving_ = false; ///< no more frames are read

  time_point last_active_;          ///< when a frame was last complete, in either direction
  boost::asio::steady_timer event_; ///< cancelled whenever room or flushing may have changed
  boost::asio::steady_timer watchdog_;
  bool watching_ = false;
  bool late_ = false; ///< the frame being received took too long
  bool idle_ = false; ///< nothing was asked for too long
  time_point read_deadline_ = time_point::max();
  time_point last_taken_; ///< when the client last took bytes, or was first offered some
};

} // namespace troupe::protocol::rpc
