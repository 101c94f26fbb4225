#include "protocol/rest/listener.hpp"

#include "protocol/rest/connection.hpp"

namespace troupe::protocol {

struct rest_listener::impl {
  std::shared_ptr<std::atomic<bool>> closing;
  net::tcp_server server;
};

rest_listener::rest_listener(service& behind, listener_options options, rest_options settings) {
  auto closing = std::make_shared<std::atomic<bool>>(false);
  auto unsent = std::make_shared<net::unsent_budget>(options.max_unsent_bytes);
  auto make = [&behind, settings, closing,
               unsent](boost::asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
                       net::membership member) -> std::shared_ptr<net::peer> {
    return std::make_shared<rest::connection>(std::move(socket), std::move(gate), std::move(member),
                                              behind, settings, closing, unsent);
  };
  impl_.reset(new impl{closing, net::tcp_server{std::move(options), std::move(make)}});
}

rest_listener::~rest_listener() = default;

result<std::uint16_t> rest_listener::start() {
  return impl_->server.start();
}

void rest_listener::stop_accepting() {
  impl_->closing->store(true);
  impl_->server.stop_accepting();
}

bool rest_listener::drain(duration deadline) {
  impl_->closing->store(true);
  return impl_->server.drain(deadline);
}

} // namespace troupe::protocol
