#pragma once

// A client's own thread. Private to clients/cpp: includes Asio.

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>
#include <thread>

namespace troupe::client {

/// Runs handlers until destroyed; those that are queued then are dropped.
class io_thread {
public:
  io_thread() : thread_([this] { io_.run(); }) {}
  ~io_thread() { stop(); }
  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;

  [[nodiscard]] boost::asio::io_context& context() noexcept { return io_; }
  /// Waits until there is nothing left to run.
  void finish() {
    work_.reset();
    if (thread_.joinable())
      thread_.join();
  }
  /// Drops what is left.
  void stop() {
    work_.reset();
    io_.stop();
    if (thread_.joinable())
      thread_.join();
  }

private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::thread thread_; ///< last: starts when the others exist
};

/// A connected socket, or unavailable. Blocks; not on the io thread.
[[nodiscard]] result<boost::asio::ip::tcp::socket> connect_socket(boost::asio::io_context& io,
                                                                  const std::string& host,
                                                                  std::uint16_t port,
                                                                  duration within);

} // namespace troupe::client
