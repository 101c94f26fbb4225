#pragma once

// One HTTP client: a coroutine that takes a request, answers it and takes the next, so that
// pipelined requests are answered in order. Beast reads the header; bodies go from the socket to
// where they belong. Everything but start, drain and abort runs on the socket's strand. Private to
// protocol/.

#include "protocol/net/tcp_server.hpp"
#include "protocol/net/unsent.hpp"
#include "protocol/rest/infer_json.hpp"
#include "protocol/rest/listener.hpp"
#include "protocol/rest/target.hpp"
#include "protocol/service.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace troupe::protocol::rest {

/// What a request's header says, as far as it matters here.
struct request_head {
  std::string method;
  std::string target;
  std::string media_type; ///< without parameters, lower case
  std::string encoding;
  std::uint64_t content_length = 0;
  std::optional<std::string> json_length; ///< Inference-Header-Content-Length
  bool chunked = false;
  bool expects_continue = false;
  bool keep_alive = true;
};

class connection final : public net::peer, public std::enable_shared_from_this<connection> {
public:
  /// `closing`: set by the listener once clients are to leave after their next answer.
  connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<net::gate> gate,
             net::membership member, service& behind, const rest_options& settings,
             std::shared_ptr<const std::atomic<bool>> closing,
             std::shared_ptr<net::unsent_budget> unsent);

  void start() override;
  void drain() override;
  void abort() override;

private:
  template <class T>
  using awaitable = boost::asio::awaitable<T>;
  /// Where a callback of the service leaves its answer.
  template <class T>
  struct slot {
    std::optional<result<T>> value;
  };

  awaitable<void> run(std::shared_ptr<connection> self);
  awaitable<bool> serve_one();
  awaitable<bool> read_header(request_head& into, std::optional<response>& refusal);
  awaitable<response> answer(const request_head& head, const route& to);
  awaitable<response> answer_infer(const request_head& head, const route& to);
  awaitable<response> answer_repository(const request_head& head, const route& to);
  awaitable<result<std::string>> read_text(std::uint64_t bytes);
  awaitable<bool> receive(std::byte* into, std::uint64_t bytes);
  awaitable<void> skip(std::uint64_t bytes);
  awaitable<bool> send(response answer, bool keep_alive);
  awaitable<bool> send_continue(const request_head& head);
  awaitable<void> linger();
  template <class T>
  awaitable<result<T>> wait(std::shared_ptr<slot<T>> for_answer);

  template <class T>
  std::function<void(result<T>)> fill(const std::shared_ptr<slot<T>>& to);
  [[nodiscard]] std::optional<response> refuse(const request_head& head, const route& to) const;
  [[nodiscard]] response failed(const error& why) const;
  void watch_peer();
  void earn_time(std::uint64_t bytes);
  void expect_within(duration time);
  void watch_sending();
  void on_watch();
  void close();

  net::membership member_; ///< first, so that the server is told last
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<net::gate> gate_;
  service& service_;
  rest_options settings_;
  std::shared_ptr<const std::atomic<bool>> closing_;

  boost::beast::flat_buffer buffer_; ///< received and not yet consumed
  std::uint64_t body_left_ = 0;      ///< of the current request
  std::shared_ptr<call> running_;
  bool idle_ = false; ///< between two requests
  bool draining_ = false;
  bool peer_left_ = false; ///< while its request was running

  net::unsent_share unsent_;
  time_point last_taken_; ///< when the client last took bytes of an answer, or was first offered it
  bool sending_ = false;

  boost::asio::steady_timer event_; ///< cancelled when a slot is filled
  boost::asio::steady_timer watchdog_;
  time_point deadline_ = time_point::max();
  bool watching_ = false;
  bool late_ = false;    ///< the watchdog has ended the read
  bool reading_ = false; ///< a request, so that the watchdog lets it be answered
};

} // namespace troupe::protocol::rest
