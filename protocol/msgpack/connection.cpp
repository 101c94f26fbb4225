#include "protocol/msgpack/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cstring>
#include <exception>

namespace troupe::protocol::rpc {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// One read. What of a payload comes with the head before it is copied once, so this is not larger.
constexpr std::size_t receive_bytes = 16'384;

/// Handed to the system in one call, as far as it takes them.
constexpr std::size_t gathered_frames = 32;

time_point now() noexcept {
  return std::chrono::steady_clock::now();
}

} // namespace

connection::connection(asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
                       net::membership member, service& behind, const limits& bounds)
    : member_(std::move(member)), socket_(std::move(socket)), gate_(std::move(gate)),
      service_(behind), bounds_(bounds), in_(receive_bytes), scanner_(bounds),
      event_(socket_.get_executor()), watchdog_(socket_.get_executor()) {}

void connection::start() {
  // The task may come when the server is being taken apart: the gate says whether there is still a
  // strand to post to.
  auto post = [gate = gate_, weak = weak_from_this()](std::function<void()> task) {
    gate->enter([&] {
      auto self = weak.lock();
      if (!self)
        return;
      const auto strand = self->socket_.get_executor();
      asio::post(strand, [self = std::move(self), task = std::move(task)] { task(); });
    });
  };
  dispatcher_ = std::make_shared<dispatcher>(
      service_, [this](outgoing_frame frame) { send(std::move(frame)); }, std::move(post));
  asio::co_spawn(socket_.get_executor(), run(shared_from_this()), [](std::exception_ptr) {});
}

void connection::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    self->dispatcher_->refuse_new();
    self->leave_if_drained();
  });
}

void connection::abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
}

asio::awaitable<void> connection::run(std::shared_ptr<connection> self) {
  // The connection's edge: what is thrown below ends this client and nobody else.
  try {
    co_await self->read_frames();
  } catch (const std::exception&) {
  }
  self->dispatcher_->cancel_all();
  self->close();
}

asio::awaitable<void> connection::read_frames() {
  while (!leaving_) {
    co_await wait_for_room();
    if (leaving_)
      break;
    const auto end = co_await read_frame();
    read_deadline_ = time_point::max();
    if (end == frame_end::peer_left)
      co_return;
    if (end == frame_end::broken)
      leaving_ = true;
    in_frame_ = begin_ < end_;
    leave_if_drained();
  }
  co_await say_goodbye();
}

asio::awaitable<connection::frame_end> connection::read_frame() {
  scanner_.reset();
  head_.clear();
  if (begin_ < end_)
    frame_begins();
  bool opened = false;
  while (true) {
    bool alive = co_await read_head();
    if (alive && scanner_.now() == frame_scanner::state::failed) {
      dispatcher_->break_off(scanner_, opened, scanner_.failure());
      co_return frame_end::broken;
    }
    if (alive && !opened) {
      if (const auto done = dispatcher_->open(head()); !done) {
        dispatcher_->break_off(scanner_, opened, done.error());
        co_return frame_end::broken;
      }
      opened = true;
    }
    if (alive && scanner_.now() == frame_scanner::state::done) {
      dispatcher_->finish(head());
      co_return frame_end::complete;
    }
    if (alive)
      alive = co_await read_payload();
    if (!alive && late_) {
      dispatcher_->break_off(scanner_, opened,
                             {errc::deadline_exceeded, "a frame took too long to arrive"});
      co_return frame_end::broken;
    }
    if (!alive)
      co_return frame_end::peer_left;
    scanner_.payload_taken();
  }
}

asio::awaitable<bool> connection::read_head() {
  while (true) {
    const auto taken = scanner_.scan(std::span{in_}.subspan(begin_, end_ - begin_));
    head_.insert(head_.end(), in_.begin() + static_cast<std::ptrdiff_t>(begin_),
                 in_.begin() + static_cast<std::ptrdiff_t>(begin_ + taken));
    begin_ += taken;
    if (scanner_.now() != frame_scanner::state::head)
      co_return true;
    const bool alive = co_await fill();
    if (!alive)
      co_return false;
  }
}

asio::awaitable<bool> connection::read_payload() {
  const auto size = scanner_.payload_size();
  std::byte* const place = dispatcher_->place_payload(size);
  read_deadline_ += bounds_.frame_time_per_mib * static_cast<std::int64_t>(size >> 20);
  std::uint64_t got = std::min<std::uint64_t>(size, end_ - begin_);
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
      received =
          co_await socket_.async_read_some(into, asio::redirect_error(asio::use_awaitable, ec));
    } else {
      received = co_await socket_.async_read_some(asio::buffer(in_),
                                                  asio::redirect_error(asio::use_awaitable, ec));
    }
    if (ec)
      co_return false;
    const auto part = std::min<std::uint64_t>(received, size - got);
    got += part;
    if (!place)
      begin_ = part;
    end_ = begin_ + (received - part);
  }
  co_return true;
}

asio::awaitable<bool> connection::fill() {
  if (begin_ > 0) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  error_code ec;
  const auto room = asio::buffer(in_.data() + end_, in_.size() - end_);
  const std::size_t received =
      co_await socket_.async_read_some(room, asio::redirect_error(asio::use_awaitable, ec));
  if (ec)
    co_return false;
  end_ += received;
  if (!in_frame_)
    frame_begins();
  co_return true;
}

asio::awaitable<void> connection::wait_for_room() {
  while (!leaving_ && (paused_ || dispatcher_->in_flight() >= bounds_.in_flight)) {
    error_code cancelled;
    event_.expires_at(time_point::max());
    co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
}

asio::awaitable<void> connection::say_goodbye() {
  while (socket_.is_open() && (dispatcher_->in_flight() > 0 || !flushed())) {
    error_code cancelled;
    event_.expires_at(time_point::max());
    co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  // Closing with unread bytes would reset the connection and take our last answer with it.
  error_code ec;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
  read_deadline_ = now() + bounds_.linger_time;
  watch();
  while (!ec)
    co_await socket_.async_read_some(asio::buffer(in_),
                                     asio::redirect_error(asio::use_awaitable, ec));
}

void connection::frame_begins() {
  in_frame_ = true;
  read_deadline_ = now() + bounds_.frame_time;
  watch();
}

frame_head connection::head() const {
  const value_bytes bytes{head_};
  frame_head found;
  found.kind = scanner_.kind().value_or(frame_kind::notification);
  found.id = scanner_.id().value_or(0);
  const std::size_t method = found.kind == frame_kind::notification ? 1 : 2;
  found.method = bytes.subspan(scanner_.element(method),
                               scanner_.element(method + 1) - scanner_.element(method));
  found.first =
      bytes.subspan(scanner_.header_begin(), scanner_.header_end() - scanner_.header_begin());
  found.parameters = scanner_.parameters();
  return found;
}

bool connection::flushed() const noexcept {
  return queue_.empty() && sending_.empty();
}

void connection::send(outgoing_frame frame) {
  unsent_ += frame.bytes();
  paused_ = paused_ || unsent_ > bounds_.output_bytes;
  queue_.push_back(std::move(frame));
  event_.cancel();
  write();
}

void connection::write() {
  if (!sending_.empty() || queue_.empty() || !socket_.is_open())
    return;
  const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), gathered_frames));
  sending_.assign(std::make_move_iterator(queue_.begin()),
                  std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  std::vector<asio::const_buffer> buffers;
  std::size_t bytes = 0;
  for (const auto& frame : sending_) {
    bytes += frame.bytes();
    for (const auto piece : frame.pieces())
      buffers.emplace_back(piece.data(), piece.size());
  }
  write_deadline_ = now() + bounds_.write_time;
  watch();
  const auto on_progress = [self = shared_from_this()](const error_code& ec,
                                                       std::size_t) -> std::size_t {
    self->write_deadline_ = now() + self->bounds_.write_time;
    return ec ? 0 : std::size_t{1} << 30;
  };
  asio::async_write(socket_, buffers, on_progress,
                    [self = shared_from_this(), bytes](error_code ec, std::size_t) {
                      self->sending_.clear();
                      self->unsent_ -= bytes;
                      self->write_deadline_ = time_point::max();
                      if (self->unsent_ <= self->bounds_.output_bytes / 2)
                        self->paused_ = false;
                      self->event_.cancel();
                      if (ec)
                        return self->close();
                      self->write();
                      self->leave_if_drained();
                    });
}

void connection::leave_if_drained() {
  if (!draining_ || leaving_ || in_frame_ || dispatcher_->in_flight() > 0 || !flushed())
    return;
  leaving_ = true;
  // Nothing is being sent: this wakes the reader alone.
  error_code ignored;
  socket_.cancel(ignored);
  event_.cancel();
}

void connection::watch() {
  const auto next = std::min(read_deadline_, write_deadline_);
  if (next == time_point::max() || (watching_ && watchdog_.expiry() <= next))
    return;
  watching_ = true;
  watchdog_.expires_at(next);
  watchdog_.async_wait([weak = weak_from_this()](error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled)
      self->on_watch();
  });
}

void connection::on_watch() {
  watching_ = false;
  if (now() >= write_deadline_)
    return close();
  if (now() >= read_deadline_) {
    if (leaving_)
      return close();
    late_ = true;
    read_deadline_ = time_point::max();
    // Ends the read; what is being sent goes on.
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_receive, ignored);
  }
  watch();
}

void connection::close() {
  leaving_ = true;
  error_code ignored;
  socket_.close(ignored);
  event_.cancel();
  watchdog_.cancel();
}

} // namespace troupe::protocol::rpc
