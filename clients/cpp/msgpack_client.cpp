#include "clients/cpp/msgpack_client.hpp"

#include "clients/cpp/io_thread.hpp"
#include "clients/cpp/session.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace troupe::client {
namespace {

namespace rpc = protocol::rpc;

class msgpack_client final : public client {
public:
  using client::infer;

  explicit msgpack_client(std::unique_ptr<io_thread> thread, std::shared_ptr<session> talking)
      : thread_(std::move(thread)), session_(std::move(talking)) {}

  ~msgpack_client() override {
    // What waits for the socket ends by itself once that is closed: then nothing is left to run.
    boost::asio::post(thread_->context(), [session = session_] {
      session->close({errc::cancelled, "the client was closed"});
    });
    thread_->finish();
    session_.reset();
  }

  void infer(inference_request request, done_fn done) override {
    boost::asio::post(thread_->context(), [session = session_, request = std::move(request),
                                           done = std::move(done)]() mutable {
      session->infer(std::move(request), std::move(done));
    });
  }

  result<server_health> health(std::string_view model, std::string_view version) override {
    return ask("health", model, version, rpc::decode_health);
  }
  result<model_metadata> metadata(std::string_view model, std::string_view version) override {
    return ask("metadata", model, version, rpc::decode_metadata);
  }
  result<std::vector<model_index_entry>> index() override {
    return ask("models", {}, {}, rpc::decode_index);
  }
  result<std::vector<model_statistics>> statistics(std::string_view model) override {
    return ask("stats", model, {}, rpc::decode_statistics);
  }
  result<void> load(std::string_view model) override { return order("load", model); }
  result<void> unload(std::string_view model) override { return order("unload", model); }

private:
  result<session::raw_result> call(std::string_view method, std::string_view model,
                                   std::string_view version) {
    std::promise<result<session::raw_result>> answer;
    boost::asio::post(thread_->context(), [&] {
      session_->call(
          [&](std::uint32_t id) { return rpc::encode_request(id, method, model, version); },
          [&](result<session::raw_result> given) { answer.set_value(std::move(given)); });
    });
    return answer.get_future().get();
  }
  template <class T>
  result<T> ask(std::string_view method, std::string_view model, std::string_view version,
                result<T> (*decode)(rpc::value_bytes)) {
    const auto answer = call(method, model, version);
    if (!answer)
      return propagate(answer);
    return decode(*answer);
  }
  result<void> order(std::string_view method, std::string_view model) {
    const auto answer = call(method, model, {});
    if (!answer)
      return propagate(answer);
    return {};
  }

  std::unique_ptr<io_thread> thread_;
  std::shared_ptr<session> session_;
};

} // namespace

result<std::unique_ptr<client>> connect_msgpack(const std::string& host, std::uint16_t port,
                                                const options& with) {
  auto thread = std::make_unique<io_thread>();
  auto socket = connect_socket(thread->context(), host, port, with.connect_time);
  if (!socket)
    return propagate(socket);
  auto talking =
      std::make_shared<session>(std::move(*socket), fmt::format("{}:{}", host, port), with);
  boost::asio::post(thread->context(), [talking] { talking->start(); });
  return std::make_unique<msgpack_client>(std::move(thread), std::move(talking));
}

} // namespace troupe::client
