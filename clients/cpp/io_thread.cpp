#include "clients/cpp/io_thread.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <future>
#include <memory>

namespace troupe::client {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

result<tcp::socket> connect_socket(asio::io_context& io, const std::string& host,
                                   std::uint16_t port, duration within) {
  error_code ec;
  tcp::resolver resolver{io};
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::numeric_service, ec);
  if (ec)
    return fail(errc::unavailable, "cannot find \"{}\": {}", host, ec.message());

  struct attempt {
    explicit attempt(asio::io_context& on) : socket(on), timer(on) {}
    tcp::socket socket;
    asio::steady_timer timer;
    bool late = false;
    std::promise<error_code> done;
  };
  auto trying = std::make_shared<attempt>(io);
  auto answer = trying->done.get_future();
  asio::post(io, [trying, found, within] {
    trying->timer.expires_after(within);
    trying->timer.async_wait([trying](error_code cancelled) {
      if (cancelled)
        return;
      trying->late = true;
      error_code ignored;
      trying->socket.close(ignored);
    });
    asio::async_connect(trying->socket, found, [trying](error_code failed, const tcp::endpoint&) {
      trying->timer.cancel();
      trying->done.set_value(trying->late ? error_code{asio::error::timed_out} : failed);
    });
  });
  ec = answer.get();
  if (ec)
    return fail(errc::unavailable, "cannot connect to {}:{}: {}", host, port, ec.message());
  trying->socket.set_option(tcp::no_delay(true), ec);
  return std::move(trying->socket);
}

} // namespace troupe::client
