#include "protocol/msgpack/frame_writer.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe::protocol::rpc {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Handed to the system in one call, as far as it takes them.
constexpr std::size_t gathered_frames = 32;
constexpr std::size_t most_bytes_per_call = std::size_t{1} << 30;

} // namespace

frame_writer::frame_writer(asio::ip::tcp::socket& to, std::function<void()> on_progress,
                           std::function<void(const error_code&)> on_sent)
    : socket_(to), on_progress_(std::move(on_progress)), on_sent_(std::move(on_sent)) {}

void frame_writer::send(outgoing_frame frame, const std::shared_ptr<void>& owner) {
  unsent_ += frame.bytes();
  queue_.push_back(std::move(frame));
  if (sending_.empty())
    write(owner);
}

void frame_writer::write(std::shared_ptr<void> owner) {
  if (queue_.empty() || !socket_.is_open())
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
  const auto progress = [this](const error_code& ec, std::size_t) -> std::size_t {
    on_progress_();
    return ec ? 0 : most_bytes_per_call;
  };
  asio::async_write(socket_, buffers, progress,
                    [this, owner = std::move(owner), bytes](const error_code& ec, std::size_t) {
                      sending_.clear();
                      unsent_ -= bytes;
                      if (!ec)
                        write(owner);
                      on_sent_(ec);
                    });
}

} // namespace troupe::protocol::rpc
