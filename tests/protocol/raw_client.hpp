#pragma once

// A client without mercy: sends any bytes, reads whole frames, blocks.

#include "protocol/msgpack/decode.hpp"
#include "protocol/msgpack/frame.hpp"
#include "protocol/msgpack/scanner.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

/// A frame as it came, payloads apart.
struct received_frame {
  std::vector<std::byte> head;
  std::vector<std::vector<std::byte>> payloads;
  protocol::rpc::frame_kind kind{};
  std::uint32_t id = 0;
  std::size_t error_at = 0, result_at = 0, header_begin = 0, header_end = 0, parameters = 0;

  [[nodiscard]] protocol::rpc::value_bytes error_value() const {
    return protocol::rpc::value_bytes{head}.subspan(error_at, result_at - error_at);
  }
  [[nodiscard]] protocol::rpc::value_bytes result_value() const {
    return protocol::rpc::value_bytes{head}.subspan(result_at);
  }
  [[nodiscard]] protocol::rpc::value_bytes header() const {
    return protocol::rpc::value_bytes{head}.subspan(header_begin, header_end - header_begin);
  }
  /// Of a response or of the notification "error".
  [[nodiscard]] troupe::error failure() const {
    const auto bytes = kind == protocol::rpc::frame_kind::notification ? header() : error_value();
    auto read = protocol::rpc::decode_error(bytes);
    return read ? *read : troupe::error{errc::internal, "not an error: " + read.error().text};
  }
  [[nodiscard]] bool ok() const {
    return kind == protocol::rpc::frame_kind::response && protocol::rpc::is_nil(error_value());
  }
};

class raw_client {
public:
  explicit raw_client(std::uint16_t port) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }

  void send(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  void send(const protocol::rpc::outgoing_frame& frame) { send(flat(frame)); }

  static std::string flat(const protocol::rpc::outgoing_frame& frame) {
    std::string all;
    for (const auto piece : frame.pieces())
      all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return all;
  }

  /// The next frame; nothing if the server has closed its side.
  std::optional<received_frame> receive() {
    protocol::rpc::frame_scanner scanner{{}};
    received_frame frame;
    using state = protocol::rpc::frame_scanner::state;
    while (true) {
      const auto taken = scanner.scan(buffer_);
      frame.head.insert(frame.head.end(), buffer_.begin(),
                        buffer_.begin() + static_cast<long>(taken));
      buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<long>(taken));
      if (scanner.now() == state::done)
        break;
      if (scanner.now() == state::failed)
        throw std::runtime_error(scanner.failure().text);
      if (scanner.now() == state::payload) {
        while (buffer_.size() < scanner.payload_size())
          if (!more())
            return std::nullopt;
        const auto end = buffer_.begin() + static_cast<long>(scanner.payload_size());
        frame.payloads.emplace_back(buffer_.begin(), end);
        buffer_.erase(buffer_.begin(), end);
        scanner.payload_taken();
        continue;
      }
      if (!more())
        return std::nullopt;
    }
    frame.kind = scanner.kind().value();
    frame.id = scanner.id().value_or(0);
    frame.error_at = scanner.element(2);
    frame.result_at = scanner.element(3);
    frame.header_begin = scanner.header_begin();
    frame.header_end = scanner.header_end();
    frame.parameters = scanner.parameters();
    return frame;
  }

  void close() { socket_.close(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

private:
  bool more() {
    std::array<std::byte, 4096> chunk;
    boost::system::error_code ec;
    const auto count = socket_.read_some(boost::asio::buffer(chunk), ec);
    buffer_.insert(buffer_.end(), chunk.begin(), chunk.begin() + static_cast<long>(count));
    return !ec;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
  std::vector<std::byte> buffer_;
};

} // namespace troupe::test
