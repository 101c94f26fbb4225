#pragma once

// The barest HTTP client: sends text, reads one answer by its Content-Length.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::test {

struct http_answer {
  int status = 0;
  std::string head;
  std::string body;

  [[nodiscard]] bool says(std::string_view line) const {
    return head.find(line) != std::string::npos;
  }
};

class http_client {
public:
  explicit http_client(std::uint16_t port) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }

  void send(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }

  std::optional<http_answer> receive() {
    http_answer answer;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (!more())
        return std::nullopt;
    answer.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    answer.status = std::stoi(answer.head.substr(9, 3));
    constexpr std::string_view field = "Content-Length: ";
    if (const auto at = answer.head.find(field); at != std::string::npos) {
      const auto length = std::stoul(answer.head.substr(at + field.size()));
      while (buffer_.size() < length)
        if (!more())
          return std::nullopt;
      answer.body = buffer_.substr(0, length);
      buffer_.erase(0, length);
    }
    return answer;
  }

  http_answer get(std::string_view target) {
    send("GET " + std::string{target} + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return receive().value();
  }
  static std::string post_text(std::string_view target, std::string_view body,
                               std::string_view fields = {}) {
    return "POST " + std::string{target}
           + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"
           + std::string{fields} + "\r\n" + std::string{body};
  }
  http_answer post(std::string_view target, std::string_view body, std::string_view fields = {}) {
    send(post_text(target, body, fields));
    return receive().value();
  }
  void close() { socket_.close(); }

private:
  bool more() {
    std::array<char, 4096> chunk;
    boost::system::error_code ec;
    const auto count = socket_.read_some(boost::asio::buffer(chunk), ec);
    buffer_.append(chunk.data(), count);
    return !ec;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
  std::string buffer_;
};

} // namespace troupe::test
