#include "clients/cpp/http_client.hpp"

#include "clients/cpp/http_codec.hpp"
#include "clients/cpp/io_thread.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <charconv>
#include <deque>
#include <exception>
#include <limits>

namespace troupe::client {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// A connection, while it answers one request at a time.
struct lane {
  explicit lane(asio::io_context& io) : socket(io), timer(io) {}
  tcp::socket socket;
  asio::steady_timer timer;
  boost::beast::flat_buffer buffer;
  bool late = false;
};

/// The requests that wait and the connections that answer them. Used on the io thread.
class lanes : public std::enable_shared_from_this<lanes> {
public:
  using done_fn = std::function<void(result<http_reply>)>;

  lanes(asio::io_context& io, std::string host, std::uint16_t port, const options& with)
      : io_(io), host_(std::move(host)), port_(port), options_(with) {}

  void keep(tcp::socket connected) {
    auto first = std::make_shared<lane>(io_);
    first->socket = std::move(connected);
    idle_.push_back(std::move(first));
  }

  void send(http_request asked, done_fn done) {
    if (closed_)
      return done(fail(errc::cancelled, "the client was closed"));
    if (queue_.size() + busy_ >= options_.max_in_flight)
      return done(fail(errc::resource_exhausted,
                       "{} requests are in flight, the client allows no more",
                       queue_.size() + busy_));
    queue_.push_back(
        {std::move(asked), std::move(done), std::chrono::steady_clock::now() + options_.timeout});
    next();
  }

  void close() {
    closed_ = true;
    for (auto& each : std::exchange(queue_, {}))
      each.done(fail(errc::cancelled, "the client was closed"));
    error_code ignored;
    for (const auto& each : running_)
      each->socket.close(ignored);
    idle_.clear();
  }

private:
  struct job {
    http_request asked;
    done_fn done;
    time_point deadline;
  };

  void next() {
    while (!queue_.empty() && busy_ < options_.http_connections && !closed_) {
      auto on = idle_.empty() ? std::make_shared<lane>(io_) : std::move(idle_.back());
      if (!idle_.empty())
        idle_.pop_back();
      auto work = std::make_shared<job>(std::move(queue_.front()));
      queue_.pop_front();
      ++busy_;
      running_.push_back(on);
      asio::co_spawn(io_, run(shared_from_this(), std::move(on), std::move(work)),
                     [](std::exception_ptr) {});
    }
  }

  static asio::awaitable<void> run(std::shared_ptr<lanes> self, std::shared_ptr<lane> on,
                                   std::shared_ptr<job> work) {
    // The connection's edge.
    result<http_reply> answer = fail(errc::internal, "no answer");
    try {
      answer = co_await self->perform(on, *work);
    } catch (const std::exception& e) {
      answer = fail(errc::internal, "{}", e.what());
    }
    on->timer.expires_at(time_point::max());
    if (self->closed_)
      answer = fail(errc::cancelled, "the client was closed");
    std::erase(self->running_, on);
    if (on->socket.is_open() && !on->late && !self->closed_)
      self->idle_.push_back(on);
    --self->busy_;
    self->next();
    work->done(std::move(answer));
  }

  asio::awaitable<result<http_reply>> perform(std::shared_ptr<lane> owner, const job& work) {
    lane& on = *owner;
    if (options_.timeout > duration::zero()) {
      on.timer.expires_at(work.deadline);
      on.timer.async_wait([owner](error_code cancelled) {
        // It may have been due already when the answer came.
        if (cancelled || owner->timer.expiry() > std::chrono::steady_clock::now())
          return;
        owner->late = true;
        error_code ignored;
        owner->socket.close(ignored);
      });
    }
    error_code ec;
    // A connection that was idle may have been closed by the server: then once more on a fresh one.
    for (bool fresh = !on.socket.is_open();; fresh = true) {
      if (fresh) {
        on.buffer.clear();
        on.socket = tcp::socket{io_};
        tcp::resolver resolver{io_};
        const auto found = co_await resolver.async_resolve(
            host_, std::to_string(port_), asio::redirect_error(asio::use_awaitable, ec));
        if (!ec)
          co_await asio::async_connect(on.socket, found,
                                       asio::redirect_error(asio::use_awaitable, ec));
        if (ec)
          co_return failed(on, "cannot connect to", ec);
        error_code ignored;
        on.socket.set_option(tcp::no_delay(true), ignored);
      }
      const auto head = work.asked.head(fmt::format("{}:{}", host_, port_));
      std::vector<asio::const_buffer> buffers{asio::buffer(head), asio::buffer(work.asked.body)};
      for (const auto& each : work.asked.tail)
        buffers.emplace_back(each.data(), each.size());
      co_await asio::async_write(on.socket, buffers, asio::redirect_error(asio::use_awaitable, ec));
      http::response_parser<http::empty_body> parser;
      parser.body_limit(std::numeric_limits<std::uint64_t>::max());
      // An error while writing may have its reason in an answer that is already there.
      error_code read_failed;
      co_await http::async_read_header(on.socket, on.buffer, parser,
                                       asio::redirect_error(asio::use_awaitable, read_failed));
      if (!read_failed)
        co_return co_await read_body(on, parser);
      if (fresh || on.late || closed_)
        co_return failed(on, "no answer from", ec ? ec : read_failed);
    }
  }

  asio::awaitable<result<http_reply>> read_body(lane& on,
                                                http::response_parser<http::empty_body>& parser) {
    http_reply reply;
    const auto& fields = parser.get();
    reply.status = static_cast<int>(fields.result_int());
    const std::uint64_t length = parser.content_length() ? *parser.content_length() : 0;
    if (parser.chunked() || length > options_.max_response_bytes) {
      error_code ignored;
      on.socket.close(ignored);
      co_return fail(errc::invalid_argument,
                     "an answer of {}:{} has no length, or more than {} bytes", host_, port_,
                     options_.max_response_bytes);
    }
    reply.body.resize(length);
    const auto buffered = std::min<std::size_t>(length, on.buffer.size());
    std::copy_n(static_cast<const char*>(on.buffer.data().data()), buffered, reply.body.data());
    on.buffer.consume(buffered);
    error_code ec;
    if (buffered < length)
      co_await asio::async_read(on.socket,
                                asio::buffer(reply.body.data() + buffered, length - buffered),
                                asio::redirect_error(asio::use_awaitable, ec));
    if (ec)
      co_return failed(on, "no answer from", ec);
    const auto number = [&](const char* field, auto& into) {
      if (const auto given = fields.find(field); given != fields.end())
        std::from_chars(given->value().data(), given->value().data() + given->value().size(), into);
    };
    reply.json_bytes = length;
    number("Inference-Header-Content-Length", reply.json_bytes);
    reply.json_bytes = std::min<std::size_t>(reply.json_bytes, length);
    number("Retry-After", reply.retry_after_s);
    if (!parser.keep_alive()) {
      error_code ignored;
      on.socket.close(ignored);
    }
    co_return reply;
  }

  result<http_reply> failed(lane& on, std::string_view what, const error_code& ec) {
    error_code ignored;
    on.socket.close(ignored);
    if (on.late)
      return fail(errc::deadline_exceeded, "no answer of {}:{} within {} ms", host_, port_,
                  std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout).count());
    return fail(errc::unavailable, "{} {}:{}: {}", what, host_, port_, ec.message());
  }

  asio::io_context& io_;
  std::string host_;
  std::uint16_t port_;
  options options_;
  std::deque<job> queue_;
  std::vector<std::shared_ptr<lane>> idle_;
  std::vector<std::shared_ptr<lane>> running_;
  std::size_t busy_ = 0;
  bool closed_ = false;
};

class http_client final : public client {
public:
  using client::infer;

  http_client(std::unique_ptr<io_thread> thread, std::shared_ptr<lanes> talking)
      : thread_(std::move(thread)), lanes_(std::move(talking)) {}

  ~http_client() override {
    // What was running ends by itself once its socket is closed: then the thread has nothing left.
    asio::post(thread_->context(), [talking = lanes_] { talking->close(); });
    thread_->finish();
    lanes_.reset();
  }

  void infer(inference_request request, done_fn done) override {
    auto asked = encode_infer(request);
    asio::post(thread_->context(), [talking = lanes_, asked = std::move(asked),
                                    done = std::move(done)]() mutable {
      talking->send(std::move(asked), [done = std::move(done)](result<http_reply> reply) {
        if (!reply)
          return done(propagate(reply));
        done(decode_infer(*reply));
      });
    });
  }

  result<server_health> health(std::string_view model, std::string_view version) override {
    auto about = get("/v2");
    if (!about)
      return propagate(about);
    auto found = decode_server(*about);
    if (!found)
      return found;
    const auto live = get("/v2/health/live");
    const auto ready = get("/v2/health/ready");
    if (!live || !ready)
      return propagate(live ? ready : live);
    found->protocol = 2;
    found->live = live->status == 200;
    found->ready = ready->status == 200;
    if (model.empty())
      return found;
    const auto model_ready = get(model_path(model, version) + "/ready");
    if (!model_ready)
      return propagate(model_ready);
    if (model_ready->status != 200 && model_ready->status != 503)
      return tl::unexpected<error>{*failure_of(*model_ready)};
    found->model_ready = model_ready->status == 200;
    return found;
  }
  result<model_metadata> metadata(std::string_view model, std::string_view version) override {
    return decoded(get(model_path(model, version)), decode_metadata);
  }
  result<std::vector<model_index_entry>> index() override {
    return decoded(post("/v2/repository/index"), decode_index);
  }
  result<std::vector<model_statistics>> statistics(std::string_view model) override {
    return decoded(get(model.empty() ? "/v2/models/stats" : model_path(model, {}) + "/stats"),
                   decode_statistics);
  }
  result<void> load(std::string_view model) override { return order(model, "/load"); }
  result<void> unload(std::string_view model) override { return order(model, "/unload"); }

private:
  result<http_reply> send(http_request asked) {
    std::promise<result<http_reply>> answer;
    asio::post(thread_->context(), [&] {
      lanes_->send(std::move(asked),
                   [&](result<http_reply> reply) { answer.set_value(std::move(reply)); });
    });
    return answer.get_future().get();
  }
  result<http_reply> get(std::string target) { return send({"GET", std::move(target), {}, {}}); }
  result<http_reply> post(std::string target) { return send({"POST", std::move(target), {}, {}}); }
  template <class T>
  static result<T> decoded(const result<http_reply>& reply,
                           result<T> (*decode)(const http_reply&)) {
    if (!reply)
      return propagate(reply);
    return decode(*reply);
  }
  result<void> order(std::string_view model, std::string_view what) {
    const auto reply =
        post(fmt::format("/v2/repository/models/{}{}", percent_encoded(model), what));
    if (!reply)
      return propagate(reply);
    if (auto failed = failure_of(*reply))
      return tl::unexpected<error>{std::move(*failed)};
    return {};
  }

  std::unique_ptr<io_thread> thread_;
  std::shared_ptr<lanes> lanes_;
};

} // namespace

result<std::unique_ptr<client>> connect_http(const std::string& host, std::uint16_t port,
                                             const options& with) {
  auto thread = std::make_unique<io_thread>();
  auto socket = connect_socket(thread->context(), host, port, with.connect_time);
  if (!socket)
    return propagate(socket);
  auto talking = std::make_shared<lanes>(thread->context(), host, port, with);
  asio::post(thread->context(),
             [talking, kept = std::move(*socket)]() mutable { talking->keep(std::move(kept)); });
  return std::make_unique<http_client>(std::move(thread), std::move(talking));
}

} // namespace troupe::client
