// The peer for the msgpack listener: what msgpack-cxx and Asio give without more. One thread, an
// unpacker per connection, every frame decoded as one object; no limits, no admission, no
// alignment. Answers "metadata" and echoes "infer"; prints its port and serves until standard input
// ends.

#include <utility>

#include <boost/asio.hpp>
#include <msgpack.hpp>

#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using packer = msgpack::packer<msgpack::sbuffer>;

void put(packer& out, std::string_view text) {
  out.pack_str(static_cast<std::uint32_t>(text.size()));
  out.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
}

void answer_metadata(packer& out) {
  out.pack_map(5);
  put(out, "name");
  put(out, "echo");
  put(out, "versions");
  out.pack_array(0);
  put(out, "platform");
  put(out, "bare");
  put(out, "inputs");
  out.pack_array(1);
  out.pack_map(3);
  put(out, "name");
  put(out, "x");
  put(out, "datatype");
  put(out, "FP32");
  put(out, "shape");
  out.pack_array(1);
  out.pack(-1);
  put(out, "outputs");
  out.pack_array(0);
}

void answer_infer(packer& out, const msgpack::object_array& params) {
  out.pack_array(params.size);
  out.pack_map(2);
  put(out, "model_name");
  put(out, "echo");
  put(out, "outputs");
  for (const auto& entry : params.ptr[0].via.map)
    if (entry.key.as<std::string_view>() == "inputs")
      out.pack(entry.val);
  for (std::uint32_t i = 1; i < params.size; ++i)
    out.pack(params.ptr[i]);
}

class session : public std::enable_shared_from_this<session> {
public:
  explicit session(tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    unpacker_.reserve_buffer(65'536);
    socket_.async_read_some(
        asio::buffer(unpacker_.buffer(), unpacker_.buffer_capacity()),
        [self = shared_from_this()](boost::system::error_code ec, std::size_t count) {
          if (!ec)
            self->take(count);
        });
  }

private:
  void take(std::size_t count) {
    unpacker_.buffer_consumed(count);
    auto answers = std::make_shared<msgpack::sbuffer>();
    packer out{*answers};
    msgpack::object_handle frame;
    while (unpacker_.next(frame)) {
      const auto& parts = frame->via.array;
      if (frame->type != msgpack::type::ARRAY || parts.size != 4)
        continue;
      out.pack_array(4);
      out.pack(1);
      out.pack(parts.ptr[1]);
      out.pack_nil();
      if (parts.ptr[2].as<std::string_view>() == "infer")
        answer_infer(out, parts.ptr[3].via.array);
      else
        answer_metadata(out);
    }
    if (answers->size() == 0)
      return read();
    asio::async_write(
        socket_, asio::buffer(answers->data(), answers->size()),
        [self = shared_from_this(), answers](boost::system::error_code ec, std::size_t) {
          if (!ec)
            self->read();
        });
  }

  tcp::socket socket_;
  msgpack::unpacker unpacker_{
      nullptr, nullptr, 1 << 20,
      msgpack::unpack_limit(0xffff'ffff, 0xffff'ffff, 0xffff'ffff, 0xffff'ffff)};
};

void accept(tcp::acceptor& on) {
  on.async_accept([&on](boost::system::error_code ec, tcp::socket socket) {
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
