#pragma once

// The connection of a msgpack client: which requests wait for which answer. Used on the io thread.
// Private to clients/cpp: includes Asio.

#include "clients/cpp/client.hpp"
#include "protocol/msgpack/frame_reader.hpp"
#include "protocol/msgpack/frame_writer.hpp"

#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::client {

class session final : public protocol::rpc::frame_sink,
                      public std::enable_shared_from_this<session> {
public:
  /// A result that is not infer's, as MessagePack.
  using raw_result = std::vector<std::byte>;
  using raw_fn = std::function<void(result<raw_result>)>;

  session(boost::asio::ip::tcp::socket socket, std::string peer, const options& with);

  /// Begins to read.
  void start();
  void infer(inference_request request, client::done_fn done);
  /// Sends the frame that `make` makes for an id.
  void call(const std::function<protocol::rpc::outgoing_frame(std::uint32_t)>& make, raw_fn done);
  /// Fails everything that waits, and closes.
  void close(const error& why);

private:
  struct waiting {
    client::done_fn inferred; ///< one of the two
    raw_fn called;
  };
  /// The response that is being received.
  struct receiving {
    std::optional<error> failed;
    protocol::rpc::response_header header;
    std::size_t next = 0;
  };

  boost::asio::awaitable<void> run(std::shared_ptr<session> self);
  [[nodiscard]] result<void> open(const protocol::rpc::frame_head& head) override;
  [[nodiscard]] std::byte* place_payload(std::uint64_t bytes) override;
  void finish(const protocol::rpc::frame_head& head) override;
  [[nodiscard]] std::optional<std::uint32_t> enlist(waiting one);
  void on_timer();
  static void reject(const waiting& one, const error& why);

  boost::asio::ip::tcp::socket socket_;
  std::string peer_;
  options options_;
  protocol::rpc::frame_reader reader_;
  protocol::rpc::frame_writer writer_;
  boost::asio::steady_timer timer_;
  bool timing_ = false;

  std::unordered_map<std::uint32_t, waiting> waiting_;
  std::deque<std::pair<time_point, std::uint32_t>>
      deadlines_; ///< in order, since all have the same time
  std::uint32_t next_id_ = 0;
  std::optional<receiving> receiving_;
  std::optional<error> notice_; ///< what the server said before it left
  std::optional<error> closed_;
};

} // namespace troupe::client
