#include "protocol/msgpack/frame_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::protocol::rpc {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// One read. What of a payload comes with the head before it is copied once, so this is not larger.
constexpr std::size_t receive_bytes = 16'384;

} // namespace

frame_reader::frame_reader(const limits& bounds, std::function<void()> on_begin,
                           std::function<void(std::uint64_t)> on_payload)
    : on_begin_(std::move(on_begin)), on_payload_(std::move(on_payload)), scanner_(bounds),
      in_(receive_bytes) {}

asio::awaitable<frame_reader::end> frame_reader::read(asio::ip::tcp::socket& from, frame_sink& to) {
  scanner_.reset();
  head_.clear();
  if (head_.capacity() > receive_bytes)
    head_.shrink_to_fit(); // a connection may be idle for long
  opened_ = false;
  in_frame_ = false;
  if (begin_ < end_)
    begin();
  while (true) {
    bool alive = co_await read_head(from);
    if (!alive)
      co_return end::closed;
    if (scanner_.now() == frame_scanner::state::failed) {
      failure_ = scanner_.failure();
      co_return end::broken;
    }
    if (!opened_) {
      if (auto done = to.open(head()); !done) {
        failure_ = std::move(done).error();
        co_return end::broken;
      }
      opened_ = true;
    }
    if (scanner_.now() == frame_scanner::state::done) {
      to.finish(head());
      in_frame_ = begin_ < end_;
      co_return end::complete;
    }
    alive = co_await read_payload(from, to);
    if (!alive)
      co_return end::closed;
    scanner_.payload_taken();
  }
}

asio::awaitable<bool> frame_reader::read_head(asio::ip::tcp::socket& from) {
  while (true) {
    const auto taken = scanner_.scan(std::span{in_}.subspan(begin_, end_ - begin_));
    head_.insert(head_.end(), in_.begin() + static_cast<std::ptrdiff_t>(begin_),
                 in_.begin() + static_cast<std::ptrdiff_t>(begin_ + taken));
    begin_ += taken;
    if (scanner_.now() != frame_scanner::state::head)
      co_return true;
    const bool alive = co_await fill(from);
    if (!alive)
      co_return false;
  }
}

asio::awaitable<bool> frame_reader::read_payload(asio::ip::tcp::socket& from, frame_sink& to) {
  const auto size = scanner_.payload_size();
  std::byte* const place = to.place_payload(size);
  std::uint64_t got = std::min<std::uint64_t>(size, end_ - begin_);
  on_payload_(got);
  if (place && got > 0)
    std::memcpy(place, in_.data() + begin_, got);
  begin_ += got;
  while (got < size) {
    // Nothing is left in the buffer. What follows the payload may come with its end.
    begin_ = end_ = 0;
    std::size_t received = 0;
    error_code ec;
    if (place) {
      const std::array<asio::mutable_buffer, 2> into{asio::buffer(place + got, size - got),
                                                     asio::buffer(in_)};
      received = co_await from.async_read_some(into, asio::redirect_error(asio::use_awaitable, ec));
    } else {
      received = co_await from.async_read_some(asio::buffer(in_),
                                               asio::redirect_error(asio::use_awaitable, ec));
    }
    if (ec)
      co_return false;
    const auto part = std::min<std::uint64_t>(received, size - got);
    got += part;
    on_payload_(part);
    if (!place)
      begin_ = part;
    end_ = begin_ + (received - part);
  }
  co_return true;
}

asio::awaitable<bool> frame_reader::fill(asio::ip::tcp::socket& from) {
  if (begin_ > 0) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  error_code ec;
  const auto room = asio::buffer(in_.data() + end_, in_.size() - end_);
  const std::size_t received =
      co_await from.async_read_some(room, asio::redirect_error(asio::use_awaitable, ec));
  if (ec)
    co_return false;
  end_ += received;
  if (!in_frame_)
    begin();
  co_return true;
}

asio::awaitable<void> frame_reader::discard(asio::ip::tcp::socket& from) {
  error_code ec;
  while (!ec)
    co_await from.async_read_some(asio::buffer(in_), asio::redirect_error(asio::use_awaitable, ec));
}

void frame_reader::begin() {
  in_frame_ = true;
  on_begin_();
}

frame_head frame_reader::head() const {
  const value_bytes bytes{head_};
  const auto between = [&](std::size_t from, std::size_t to) {
    return bytes.subspan(scanner_.element(from), scanner_.element(to) - scanner_.element(from));
  };
  frame_head found;
  found.kind = scanner_.kind().value_or(frame_kind::notification);
  found.id = scanner_.id().value_or(0);
  if (found.kind == frame_kind::response) {
    found.error = between(2, 3);
    found.result = bytes.subspan(scanner_.element(3));
  } else {
    found.method = found.kind == frame_kind::request ? between(2, 3) : between(1, 2);
  }
  found.first =
      bytes.subspan(scanner_.header_begin(), scanner_.header_end() - scanner_.header_begin());
  found.parameters = scanner_.parameters();
  return found;
}

} // namespace troupe::protocol::rpc
