#pragma once

// Receives frames from a socket: heads into a buffer, payloads straight into the blocks that the
// other side of this interface has for them. Used by servers and clients. Includes Asio.

#include "protocol/msgpack/decode.hpp"
#include "protocol/msgpack/scanner.hpp"

#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <vector>

namespace troupe::protocol::rpc {

/// A frame up to its first payload, or whole if it has none. The views live as long as the frame is
/// being received.
struct frame_head {
  frame_kind kind = frame_kind::request;
  std::uint32_t id = 0;
  value_bytes method; ///< of a request or notification
  value_bytes error;  ///< of a response
  value_bytes result; ///< of a response, up to the first payload
  value_bytes first;  ///< the first of params or result, where that is an array; else empty
  std::uint32_t parameters = 0;
};

/// What becomes of a frame. Called on the reader's executor.
class frame_sink {
public:
  virtual ~frame_sink() = default;
  /// The head has come. An error means that the connection cannot go on.
  [[nodiscard]] virtual result<void> open(const frame_head& head) = 0;
  /// Where the next payload goes; null: throw it away.
  [[nodiscard]] virtual std::byte* place_payload(std::uint64_t bytes) = 0;
  virtual void finish(const frame_head& head) = 0;
};

class frame_reader {
public:
  enum class end : std::uint8_t {
    complete,
    closed, ///< the peer has closed, or the socket was
    broken, ///< `failure()` says why; where the next frame begins is not known
  };

  /// `on_begin` is called when the first byte of a frame is there, `on_payload` with the
  /// bytes of payloads as they come: for whoever watches the time.
  frame_reader(const limits& bounds, std::function<void()> on_begin,
               std::function<void(std::uint64_t)> on_payload);

  boost::asio::awaitable<end> read(boost::asio::ip::tcp::socket& from, frame_sink& to);
  /// Throws away what comes until the peer closes.
  boost::asio::awaitable<void> discard(boost::asio::ip::tcp::socket& from);

  /// Whether something of a frame has come that is not complete.
  [[nodiscard]] bool in_frame() const noexcept { return in_frame_; }
  /// Whether `open` has been called for the current frame.
  [[nodiscard]] bool opened() const noexcept { return opened_; }
  [[nodiscard]] const frame_scanner& scanner() const noexcept { return scanner_; }
  [[nodiscard]] const error& failure() const noexcept { return failure_; }

private:
  boost::asio::awaitable<bool> read_head(boost::asio::ip::tcp::socket& from);
  boost::asio::awaitable<bool> read_payload(boost::asio::ip::tcp::socket& from, frame_sink& to);
  boost::asio::awaitable<bool> fill(boost::asio::ip::tcp::socket& from);
  void begin();
  [[nodiscard]] frame_head head() const;

  std::function<void()> on_begin_;
  std::function<void(std::uint64_t)> on_payload_;
  frame_scanner scanner_;
  std::vector<std::byte> in_; ///< received and not yet consumed: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<std::byte> head_; ///< of the current frame
  bool in_frame_ = false;
  bool opened_ = false;
  error failure_;
};

} // namespace troupe::protocol::rpc
