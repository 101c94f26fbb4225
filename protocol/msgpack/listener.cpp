#include "protocol/msgpack/listener.hpp"

#include "protocol/msgpack/connection.hpp"

namespace troupe::protocol {

struct msgpack_listener::impl {
  net::tcp_server server;
};

msgpack_listener::msgpack_listener(service& behind, listener_options options, rpc::limits limits) {
  auto unsent = std::make_shared<net::unsent_budget>(options.max_unsent_bytes);
  auto make = [&behind, limits, unsent](boost::asio::ip::tcp::socket socket,
                                        std::shared_ptr<net::gate> gate,
                                        net::membership member) -> std::shared_ptr<net::peer> {
    return std::make_shared<rpc::connection>(std::move(socket), std::move(gate), std::move(member),
                                             behind, limits, unsent);
  };
  impl_.reset(new impl{net::tcp_server{std::move(options), std::move(make)}});
}

msgpack_listener::~msgpack_listener() = default;

result<std::uint16_t> msgpack_listener::start() {
  return impl_->server.start();
}

void msgpack_listener::stop_accepting() {
  impl_->server.stop_accepting();
}

bool msgpack_listener::drain(duration deadline) {
  return impl_->server.drain(deadline);
}

} // namespace troupe::protocol
