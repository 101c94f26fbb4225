// The peer for the REST listener: Beast's own request and response types and nothing else. One
// thread, the whole body as one string, no JSON is read. Answers metadata and echoes the binary
// tail of an inference; prints its port and serves until standard input ends.

#include <utility>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <thread>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr const char* metadata =
    R"({"name":"echo","inputs":[{"name":"x","datatype":"FP32","shape":[-1]}],"outputs":[]})";

class session : public std::enable_shared_from_this<session> {
public:
  explicit session(tcp::socket socket) : stream_(std::move(socket)) {}

  void read() {
    parser_.emplace();
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code ec, std::size_t) {
                       if (!ec)
                         self->answer();
                     });
  }

private:
  void answer() {
    const auto& request = parser_->get();
    response_ = {};
    response_.keep_alive(request.keep_alive());
    response_.set(http::field::server, "bare");
    if (request.method() == http::verb::post) {
      const auto json_bytes = std::stoul(std::string{request["Inference-Header-Content-Length"]});
      const auto tail = request.body().size() - json_bytes;
      const auto size = std::to_string(tail);
      std::string json =
          R"({"model_name":"echo","model_version":"1","outputs":[{"name":"x","datatype":"FP32","shape":[)"
          + std::to_string(tail / 4) + R"(],"parameters":{"binary_data_size":)" + size + "}}]}";
      response_.set("Inference-Header-Content-Length", std::to_string(json.size()));
      response_.body() = std::move(json);
      response_.body().append(request.body(), json_bytes, tail);
    } else {
      response_.body() = metadata;
    }
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code ec, std::size_t) {
                        if (!ec)
                          self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  boost::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

void accept(tcp::acceptor& on) {
  on.async_accept([&on](beast::error_code ec, tcp::socket socket) {
    if (ec)
      return;
    socket.set_option(tcp::no_delay(true));
    std::make_shared<session>(std::move(socket))->read();
    accept(on);
  });
}

} // namespace

int main() {
  asio::io_context io{1};
  tcp::acceptor acceptor{io, {asio::ip::make_address("127.0.0.1"), 0}};
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  accept(acceptor);
  std::thread thread{[&io] { io.run(); }};
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  io.stop();
  thread.join();
}
