#include "protocol/net/tcp_server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <future>
#include <string>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace troupe::protocol::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp_server::tcp_server(listener_options options, make_peer make)
    : options_(std::move(options)), make_(std::move(make)),
      io_(std::make_unique<asio::io_context>(std::max(options_.threads, 1))) {}

tcp_server::~tcp_server() {
  if (!threads_.empty())
    drain(duration::zero()); // every peer ends by itself, and cancels its requests
  gate_->close();
  io_->stop();
  for (auto& thread : threads_)
    thread.join();
  // What is still queued holds the connections: they end here, while the list they leave still
  // exists.
  work_ = {};
  pause_.reset();
  acceptor_.reset();
  io_.reset();
}

result<std::uint16_t> tcp_server::start() {
  error_code ec;
  tcp::resolver resolver{*io_};
  const auto found = resolver.resolve(options_.host, std::to_string(options_.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec || found.empty())
    return fail(errc::invalid_argument, "listen address \"{}\": {}", options_.host, ec.message());
  const tcp::endpoint where = found.begin()->endpoint();

  // A strand: with several threads, the acceptor is used by one at a time.
  acceptor_ = std::make_unique<tcp::acceptor>(asio::make_strand(*io_));
  acceptor_->open(where.protocol(), ec);
  if (!ec)
    acceptor_->set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec)
    acceptor_->bind(where, ec);
  if (!ec)
    acceptor_->listen(tcp::acceptor::max_listen_connections, ec);
  if (ec)
    return fail(errc::unavailable, "cannot listen on {}:{}: {}", options_.host, options_.port,
                ec.message());
  const auto port = acceptor_->local_endpoint(ec).port();
  pause_ = std::make_unique<asio::steady_timer>(acceptor_->get_executor());
  work_ = asio::require(io_->get_executor(), asio::execution::outstanding_work.tracked);
  accept();
  for (int i = 0; i < std::max(options_.threads, 1); ++i)
    threads_.emplace_back([this] { io_->run(); });
  return port;
}

void tcp_server::accept() {
  acceptor_->async_accept(asio::any_io_executor{asio::make_strand(*io_)},
                          [this](error_code ec, tcp::socket socket) {
                            if (!acceptor_->is_open())
                              return;
                            if (!ec) {
                              admit(std::move(socket));
                              accept();
                              return;
                            }
                            // Out of descriptors or memory, as a rule: let some connections end
                            // first.
                            pause_->expires_after(std::chrono::milliseconds{100});
                            pause_->async_wait([this](error_code cancelled) {
                              if (!cancelled && acceptor_->is_open())
                                accept();
                            });
                          });
}

void tcp_server::admit(tcp::socket socket) {
  std::unique_lock lock{mutex_};
  if (peers_.size() >= options_.max_connections)
    return;
  const auto number = next_peer_++;
  peers_.emplace(number, std::weak_ptr<peer>{});
  lock.unlock();

  // Owns nothing: only its deleter matters.
  membership member{this, [number](tcp_server* server) {
                      std::lock_guard guard{server->mutex_};
                      server->peers_.erase(number);
                      server->left_.notify_all();
                    }};
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored); // a peer may vanish silently
  // So a client that takes its answer slowly is seen to take it: else nothing moves here until a
  // large part of what the system holds for it is gone.
  const int unsent_at_most = 128 << 10;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_at_most,
               sizeof unsent_at_most);
  auto made = make_(std::move(socket), gate_, std::move(member));
  lock.lock();
  if (const auto entry = peers_.find(number); entry != peers_.end())
    entry->second = made;
  lock.unlock();
  made->start();
}

void tcp_server::stop_accepting() {
  if (!acceptor_ || threads_.empty())
    return;
  asio::post(acceptor_->get_executor(), [this] {
    error_code ignored;
    acceptor_->close(ignored);
    pause_->cancel();
  });
}

void tcp_server::for_each_peer(const std::function<void(peer&)>& what) {
  std::vector<std::shared_ptr<peer>> held;
  {
    std::lock_guard lock{mutex_};
    for (const auto& [number, entry] : peers_)
      if (auto alive = entry.lock())
        held.push_back(std::move(alive));
  }
  for (const auto& each : held)
    what(*each);
}

bool tcp_server::drain(duration deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  stop_accepting();
  if (threads_.empty())
    return true;
  // A connection that is being accepted right now is in the list once this has run.
  std::promise<void> settled;
  asio::post(acceptor_->get_executor(), [&] { settled.set_value(); });
  settled.get_future().wait();

  for_each_peer([](peer& each) { each.drain(); });
  std::unique_lock lock{mutex_};
  if (left_.wait_until(lock, until, [this] { return peers_.empty(); }))
    return true;
  lock.unlock();
  for_each_peer([](peer& each) { each.abort(); });
  lock.lock();
  left_.wait_for(lock, std::chrono::seconds{1}, [this] { return peers_.empty(); });
  return false;
}

} // namespace troupe::protocol::net
