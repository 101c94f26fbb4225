#include "protocol/rest/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

namespace troupe::protocol::rest {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

time_point now() noexcept {
  return std::chrono::steady_clock::now();
}

std::string media_type_of(std::string_view field) {
  std::string type{field.substr(0, field.find(';'))};
  while (!type.empty() && type.back() == ' ')
    type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

} // namespace

connection::connection(asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
                       net::membership member, service& behind, const rest_options& settings,
                       std::shared_ptr<const std::atomic<bool>> closing,
                       std::shared_ptr<net::unsent_budget> unsent)
    : member_(std::move(member)), socket_(std::move(socket)), gate_(std::move(gate)),
      service_(behind), settings_(settings), closing_(std::move(closing)),
      unsent_(std::move(unsent)), event_(socket_.get_executor()),
      watchdog_(socket_.get_executor()) {}

void connection::start() {
  asio::co_spawn(socket_.get_executor(), run(shared_from_this()), [](std::exception_ptr) {});
}

void connection::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    // What was sent before the client could know is read, and answered.
    error_code ignored;
    if (self->idle_ && self->socket_.available(ignored) == 0)
      self->socket_.cancel(ignored);
  });
}

void connection::abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
}

asio::awaitable<void> connection::run(std::shared_ptr<connection> self) {
  // The connection's edge: what is thrown below ends this client and nobody else.
  try {
    bool more = true;
    while (more)
      more = co_await self->serve_one();
  } catch (const std::exception&) {
  }
  if (self->running_)
    self->running_->cancel();
  self->close();
}

asio::awaitable<bool> connection::serve_one() {
  request_head head;
  std::optional<response> made;
  const bool alive = co_await read_header(head, made);
  if (!alive)
    co_return false;
  // An answer to HEAD would have to do without a body: those connections end.
  bool reusable = !made.has_value() && head.keep_alive && head.method != "HEAD";
  if (!made) {
    const auto to = parse_target(head.target);
    if (!to)
      made = failed(to.error());
    else
      made = refuse(head, *to);
    if (head.chunked || head.content_length > settings_.limits.body_bytes)
      reusable = false; // where the next request begins is not known, or too far
    else
      body_left_ = head.content_length;
    if (!made)
      made = co_await answer(head, *to);
  }
  reading_ = false;
  if (peer_left_)
    co_return false;
  // A client that waits for "100 Continue" may or may not send the body of a refused request.
  if (body_left_ > 0 && (head.expects_continue || late_))
    reusable = false;
  reusable = reusable && !draining_ && !closing_->load() && !late_;
  const bool sent = co_await send(std::move(*made), reusable);
  if (!sent)
    co_return false;
  if (reusable)
    co_await skip(body_left_);
  else
    co_await linger();
  co_return reusable&& socket_.is_open();
}

asio::awaitable<bool> connection::read_header(request_head& into,
                                              std::optional<response>& refusal) {
  error_code ec;
  body_left_ = 0;
  if (buffer_.size() == 0) {
    if (draining_ && socket_.available(ec) == 0)
      co_return false;
    idle_ = true;
    if (settings_.limits.idle_time > duration::zero())
      expect_within(settings_.limits.idle_time);
    co_await socket_.async_wait(asio::ip::tcp::socket::wait_read,
                                asio::redirect_error(asio::use_awaitable, ec));
    idle_ = false;
    if (ec || late_)
      co_return false;
  }
  reading_ = true;
  expect_within(settings_.limits.request_time);
  http::request_parser<http::empty_body> parser;
  parser.header_limit(settings_.limits.header_bytes);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max()); // ours is checked later
  co_await http::async_read_header(socket_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, ec));
  if (late_) {
    refusal = error_response(408, "the request's header took too long to arrive");
    co_return true;
  }
  if (ec == http::error::end_of_stream
      || (ec && ec.category() != http::make_error_code(http::error::bad_method).category()))
    co_return false;
  if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
    refusal = error_response(431, fmt::format("the request's header has more than {} bytes",
                                              settings_.limits.header_bytes));
    co_return true;
  }
  if (ec) {
    refusal = error_response(400, fmt::format("malformed HTTP request: {}", ec.message()));
    co_return true;
  }
  const auto& fields = parser.get();
  into.method = view(fields.method_string());
  into.target = view(fields.target());
  into.media_type = media_type_of(view(fields[http::field::content_type]));
  into.encoding = view(fields[http::field::content_encoding]);
  into.chunked = parser.chunked();
  into.content_length = parser.content_length() ? *parser.content_length() : 0;
  into.keep_alive = parser.keep_alive();
  into.expects_continue = boost::beast::iequals(fields[http::field::expect], "100-continue");
  if (const auto given = fields.find("Inference-Header-Content-Length"); given != fields.end())
    into.json_length = std::string{view(given->value())};
  co_return true;
}

asio::awaitable<result<std::string>> connection::read_text(std::uint64_t bytes) {
  // Grows with what arrives: a length is only a claim.
  constexpr std::uint64_t first_step = 65'536;
  std::string text;
  while (text.size() < bytes) {
    const auto at = text.size();
    const auto step = std::min<std::uint64_t>(bytes - at, std::max<std::uint64_t>(at, first_step));
    text.reserve(at + step + json_padding);
    text.resize(at + step);
    const bool received = co_await receive(reinterpret_cast<std::byte*>(text.data() + at), step);
    if (!received)
      co_return fail(errc::deadline_exceeded, "the request's body took too long to arrive");
  }
  text.resize(bytes + json_padding);
  co_return text;
}

asio::awaitable<bool> connection::receive(std::byte* into, std::uint64_t bytes) {
  const std::size_t buffered = std::min<std::uint64_t>(bytes, buffer_.size());
  if (buffered > 0)
    std::memcpy(into, buffer_.data().data(), buffered);
  buffer_.consume(buffered);
  earn_time(buffered);
  error_code ec;
  std::size_t received = buffered;
  const auto on_progress = [this, seen = std::size_t{0}](const error_code& broken,
                                                         std::size_t now_here) mutable {
    earn_time(now_here - std::exchange(seen, now_here));
    return broken ? std::size_t{0} : std::size_t{1} << 30;
  };
  if (buffered < bytes)
    received +=
        co_await asio::async_read(socket_, asio::buffer(into + buffered, bytes - buffered),
                                  on_progress, asio::redirect_error(asio::use_awaitable, ec));
  body_left_ -= received;
  if (ec && !late_)
    peer_left_ = true;
  co_return !ec;
}

asio::awaitable<void> connection::skip(std::uint64_t bytes) {
  if (bytes == 0)
    co_return;
  expect_within(settings_.limits.request_time);
  std::array<std::byte, 16'384> waste;
  bool alive = true;
  while (alive && bytes > 0) {
    const auto part = std::min<std::uint64_t>(bytes, waste.size());
    alive = co_await receive(waste.data(), part);
    bytes -= part;
  }
  if (!alive)
    close();
}

asio::awaitable<bool> connection::send_continue(const request_head& head) {
  if (!head.expects_continue || head.content_length == 0 || buffer_.size() > 0)
    co_return true;
  error_code ec;
  constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  co_await asio::async_write(socket_, asio::buffer(go_on),
                             asio::redirect_error(asio::use_awaitable, ec));
  peer_left_ = static_cast<bool>(ec);
  co_return !ec;
}

asio::awaitable<bool> connection::send(response answer, bool keep_alive) {
  const auto head = format_head(answer, keep_alive);
  std::vector<asio::const_buffer> buffers{asio::buffer(head), asio::buffer(answer.body)};
  for (const auto& each : answer.tail)
    buffers.emplace_back(each.data(), each.size());
  unsent_.hold(asio::buffer_size(buffers));
  sending_ = true;
  last_taken_ = now();
  watch_sending();
  const auto on_progress = [this](const error_code& ec, std::size_t) -> std::size_t {
    last_taken_ = now();
    return ec ? 0 : std::size_t{1} << 30;
  };
  error_code ec;
  co_await asio::async_write(socket_, buffers, on_progress,
                             asio::redirect_error(asio::use_awaitable, ec));
  unsent_.hold(0);
  sending_ = false;
  deadline_ = time_point::max();
  co_return !ec;
}

asio::awaitable<void> connection::linger() {
  // Closing with unread bytes would reset the connection and take the answer with it.
  error_code ec;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
  expect_within(settings_.limits.linger_time);
  std::array<std::byte, 16'384> waste;
  while (!ec)
    co_await socket_.async_read_some(asio::buffer(waste),
                                     asio::redirect_error(asio::use_awaitable, ec));
}

void connection::watch_peer() {
  // Bytes that wait here are the next request: then the peer is there, and may leave unseen.
  if (buffer_.size() > 0 || !running_)
    return;
  // The wait may end when another request is running: then it says nothing about that one.
  const auto watched = [weak = weak_from_this(), of = std::weak_ptr{running_}](error_code ec) {
    const auto self = weak.lock();
    if (!self || ec || !self->running_ || self->running_ != of.lock())
      return;
    // A wait may end with nothing to read: the event of a body already read still stood there.
    char next = 0;
    self->socket_.non_blocking(true, ec);
    self->socket_.receive(asio::buffer(&next, 1), asio::ip::tcp::socket::message_peek, ec);
    if (ec == asio::error::would_block)
      return self->watch_peer();
    if (!ec)
      return;
    self->peer_left_ = true;
    self->running_->cancel();
    self->event_.cancel();
  };
  socket_.async_wait(asio::ip::tcp::socket::wait_read, watched);
}

// What came of a body buys time for the rest of it; what is announced does not.
void connection::earn_time(std::uint64_t bytes) {
  if (late_)
    return;
  deadline_ += settings_.limits.request_time_per_mib * static_cast<std::int64_t>(bytes) / (1 << 20);
}

void connection::expect_within(duration time) {
  deadline_ = now() + time;
  if (watching_ && watchdog_.expiry() <= deadline_)
    return;
  watching_ = true;
  watchdog_.expires_at(deadline_);
  watchdog_.async_wait([weak = weak_from_this()](error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled)
      self->on_watch();
  });
}

// A client that takes nothing is given less time while all of them together leave much.
void connection::watch_sending() {
  const auto& limits = settings_.limits;
  const auto end = last_taken_ + unsent_.patience(limits.write_time, limits.crowded_write_time);
  if (now() >= end)
    return close();
  expect_within(std::min(end - now(), limits.crowded_write_time));
}

void connection::on_watch() {
  watching_ = false;
  if (deadline_ == time_point::max())
    return;
  if (sending_)
    return watch_sending();
  if (now() < deadline_)
    return expect_within(deadline_ - now());
  if (!reading_)
    return close();
  late_ = true;
  deadline_ = time_point::max();
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_receive, ignored);
}

void connection::close() {
  error_code ignored;
  socket_.close(ignored);
  event_.cancel();
  watchdog_.cancel();
}

} // namespace troupe::protocol::rest
