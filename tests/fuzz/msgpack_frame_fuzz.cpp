// What a client may send over MessagePack: the scan of frames in pieces, then the codec on what the
// scan lets through, the way a connection does it. Whatever decodes must also encode.

#include "protocol/msgpack/decode.hpp"
#include "protocol/msgpack/encode.hpp"
#include "protocol/msgpack/scanner.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace rpc = troupe::protocol::rpc;

namespace {

void decode(std::span<const std::byte> head, const rpc::frame_scanner& frame) {
  const auto first = head.subspan(frame.header_begin(), frame.header_end() - frame.header_begin());
  const auto payloads = frame.parameters() > 0 ? frame.parameters() - 1 : 0;
  (void)rpc::decode_request_header(first, payloads);
  (void)rpc::decode_response_header(first, payloads);
  (void)rpc::decode_model(first);
  (void)rpc::decode_cancel(first);
  (void)rpc::decode_error(first);
  (void)rpc::decode_health(first);
  (void)rpc::decode_metadata(first);
  (void)rpc::decode_index(first);
  (void)rpc::decode_statistics(first);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::size_t piece = 1 + data[0] % 64; // as if the network had cut the bytes so
  auto rest = std::as_bytes(std::span{data + 1, size - 1});

  rpc::frame_scanner frame{{}};
  std::vector<std::byte> head;
  std::size_t offered = 0;
  while (true) {
    switch (frame.now()) {
      case rpc::frame_scanner::state::head: {
        offered = std::min(rest.size(), offered + piece);
        const auto taken = frame.scan(rest.first(offered));
        if (taken > offered)
          std::abort();
        head.insert(head.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(taken));
        rest = rest.subspan(taken);
        if (taken == 0 && offered == rest.size() && frame.now() == rpc::frame_scanner::state::head)
          return 0;
        offered -= taken;
        break;
      }
      case rpc::frame_scanner::state::payload:
        if (frame.payload_size() > rest.size())
          return 0;
        rest = rest.subspan(frame.payload_size());
        offered = 0;
        frame.payload_taken();
        break;
      case rpc::frame_scanner::state::done:
        decode(head, frame);
        head.clear();
        offered = 0;
        frame.reset();
        break;
      case rpc::frame_scanner::state::failed:
        if (frame.failure().text.empty())
          std::abort();
        return 0;
    }
  }
}
