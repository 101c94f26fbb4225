#pragma once

// What both listeners share: the port, the threads and the set of connections. Private to
// protocol/, since it includes Asio.

#include "protocol/listener.hpp"
#include "protocol/net/gate.hpp"

#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace troupe::protocol::net {

/// A connection, as the server sees it. It lives as long as its own handlers keep it.
class peer {
public:
  virtual ~peer() = default;
  /// Called once, before anything else, on any thread.
  virtual void start() = 0;
  /// Any thread: finish what is in flight, send it, leave.
  virtual void drain() = 0;
  /// Any thread: leave now; requests in flight are cancelled.
  virtual void abort() = 0;
};

/// Held by a peer until it ends; its destruction strikes the peer off the server's list.
using membership = std::shared_ptr<void>;

class tcp_server {
public:
  /// Makes the peer for an accepted socket, whose executor is a strand of the peer's own.
  using make_peer = std::function<std::shared_ptr<peer>(boost::asio::ip::tcp::socket,
                                                        std::shared_ptr<gate>, membership)>;

  tcp_server(listener_options options, make_peer make);
  ~tcp_server();
  tcp_server(const tcp_server&) = delete;
  tcp_server& operator=(const tcp_server&) = delete;

  /// As in protocol::listener.
  [[nodiscard]] result<std::uint16_t> start();
  void stop_accepting();
  bool drain(duration deadline);

  /// Calls `what` for every peer that is connected. Any thread.
  void for_each_peer(const std::function<void(peer&)>& what);

private:
  void accept();
  void admit(boost::asio::ip::tcp::socket socket);

  listener_options options_;
  make_peer make_;
  std::mutex mutex_; ///< guards peers_
  std::condition_variable left_;
  std::unordered_map<std::uint64_t, std::weak_ptr<peer>> peers_;
  std::uint64_t next_peer_ = 0;

  std::shared_ptr<gate> gate_ = std::make_shared<gate>();
  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<boost::asio::ip::tcp::acceptor> acceptor_;
  std::unique_ptr<boost::asio::steady_timer> pause_; ///< after an accept that failed
  boost::asio::any_io_executor work_;
  std::vector<std::thread> threads_;
};

} // namespace troupe::protocol::net
