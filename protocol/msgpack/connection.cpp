#include "protocol/msgpack/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>

namespace troupe::protocol::rpc {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

time_point now() noexcept {
  return std::chrono::steady_clock::now();
}

} // namespace

connection::connection(asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
                       net::membership member, service& behind, const limits& bounds,
                       std::shared_ptr<net::unsent_budget> unsent)
    : member_(std::move(member)), socket_(std::move(socket)), gate_(std::move(gate)),
      service_(behind), bounds_(bounds),
      reader_(
          bounds,
          [this] {
            read_deadline_ = now() + bounds_.frame_time;
            watch();
          },
          [this](std::uint64_t bytes) {
            if (!late_)
              read_deadline_ +=
                  bounds_.frame_time_per_mib * static_cast<std::int64_t>(bytes) / (1 << 20);
          }),
      writer_(
          socket_, [this] { last_taken_ = now(); }, [this](const error_code& ec) { on_sent(ec); }),
      unsent_(std::move(unsent)), last_active_(now()), event_(socket_.get_executor()),
      watchdog_(socket_.get_executor()) {}

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
    self->watch();
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
    const auto end = co_await reader_.read(socket_, *dispatcher_);
    read_deadline_ = time_point::max();
    last_active_ = now();
    // Woken to leave, with nothing to read: a farewell, not a lost peer.
    if (end == frame_reader::end::closed && leaving_ && socket_.is_open()) {
      if (idle_)
        dispatcher_->break_off(reader_.scanner(), false,
                               {errc::unavailable, "the connection was idle for too long"});
      break;
    }
    if (end == frame_reader::end::closed && !late_)
      co_return;
    // A frame had come after all when the connection was about to leave; others may be behind it.
    if (end == frame_reader::end::complete && socket_.is_open())
      leaving_ = idle_ = false;
    if (end != frame_reader::end::complete) {
      leaving_ = true;
      const error too_slow{errc::deadline_exceeded, "a frame took too long to arrive"};
      dispatcher_->break_off(reader_.scanner(), reader_.opened(),
                             late_ ? too_slow : reader_.failure());
    }
    leave_if_drained();
  }
  co_await say_goodbye();
}

asio::awaitable<void> connection::wait_for_room() {
  while (!leaving_ && (paused_ || dispatcher_->in_flight() >= bounds_.in_flight)) {
    error_code cancelled;
    event_.expires_at(time_point::max());
    co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
}

asio::awaitable<void> connection::say_goodbye() {
  while (socket_.is_open() && (dispatcher_->in_flight() > 0 || !writer_.flushed())) {
    error_code cancelled;
    event_.expires_at(time_point::max());
    co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  // Closing with unread bytes would reset the connection and take our last answer with it.
  error_code ec;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
  read_deadline_ = now() + bounds_.linger_time;
  watch();
  co_await reader_.discard(socket_);
}

void connection::send(outgoing_frame frame) {
  const bool first = writer_.flushed();
  writer_.send(std::move(frame), shared_from_this());
  unsent_.hold(writer_.unsent());
  if (first) {
    last_taken_ = now();
    watch();
  }
  paused_ = paused_ || writer_.unsent() > bounds_.output_bytes || unsent_.crowded();
  event_.cancel();
}

void connection::on_sent(const error_code& ec) {
  unsent_.hold(writer_.unsent());
  if (writer_.flushed())
    last_active_ = now();
  resume_if_there_is_room();
  event_.cancel();
  if (ec)
    return close();
  leave_if_drained();
  watch();
}

void connection::resume_if_there_is_room() {
  if (!paused_ || writer_.unsent() > bounds_.output_bytes / 2 || unsent_.crowded())
    return;
  paused_ = false;
  event_.cancel();
}

void connection::leave_if_drained() {
  if (!draining_ || leaving_ || reader_.in_frame() || dispatcher_->in_flight() > 0
      || !writer_.flushed())
    return;
  // What was sent before the client could know is read, and answered with unavailable.
  error_code ignored;
  if (socket_.available(ignored) > 0)
    return;
  stop_reading();
}

// While nothing is being sent: this wakes the reader alone.
void connection::stop_reading() {
  leaving_ = true;
  error_code ignored;
  socket_.cancel(ignored);
  event_.cancel();
}

time_point connection::idle_deadline() const {
  const bool busy = leaving_ || reader_.in_frame() || dispatcher_->in_flight() > 0
                    || !writer_.flushed() || bounds_.idle_time <= duration::zero();
  return busy ? time_point::max() : last_active_ + bounds_.idle_time;
}

time_point connection::write_deadline() const {
  if (writer_.flushed())
    return time_point::max();
  return last_taken_ + unsent_.patience(bounds_.write_time, bounds_.crowded_write_time);
}

void connection::watch() {
  // While something is unsent, others may crowd us at any time.
  const auto look = writer_.flushed() ? time_point::max() : now() + bounds_.crowded_write_time;
  const auto next = std::min({read_deadline_, write_deadline(), look, idle_deadline()});
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
  if (now() >= write_deadline())
    return close();
  if (now() >= read_deadline_) {
    if (leaving_)
      return close();
    late_ = true;
    read_deadline_ = time_point::max();
    // Ends the read; what is being sent goes on.
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_receive, ignored);
  } else if (now() >= idle_deadline()) {
    idle_ = true;
    stop_reading();
  }
  resume_if_there_is_room(); // those that crowded us may be gone
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
