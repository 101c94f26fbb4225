#include "protocol/msgpack/recorded_requests.hpp"

#include "protocol/msgpack/decode.hpp"
#include "protocol/msgpack/scanner.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace troupe::protocol::rpc {

namespace {

// A file may hold what came another way than over a connection: larger than one takes.
limits of_a_file() {
  limits made;
  made.head_bytes = std::size_t{16} << 20;
  made.payload_bytes = std::uint64_t{1} << 40;
  made.values = 1 << 20;
  made.tensors = 1 << 16;
  return made;
}

// The header of the request whose head this is.
result<request_header> header_of(const frame_scanner& scanned, value_bytes head) {
  if (scanned.kind() != frame_kind::request)
    return fail(errc::invalid_argument, "expected a request");
  const auto from = scanned.element(2);
  const auto method = decode_string(head.subspan(from, scanned.element(3) - from));
  if (!method || *method != "infer" || scanned.parameters() == 0)
    return fail(errc::invalid_argument, "expected infer with its header");
  const auto begin = scanned.header_begin();
  return decode_request_header(head.subspan(begin, scanned.header_end() - begin),
                               scanned.parameters() - 1);
}

} // namespace

result<recorded_requests> recorded_requests::open(const std::filesystem::path& file) {
  auto from = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*from)
    return fail(errc::not_found, "{}: {}", file.string(), std::strerror(errno));
  return over(std::move(from), file.string());
}

result<recorded_requests> recorded_requests::over(std::unique_ptr<std::istream> from,
                                                  std::string name) {
  recorded_requests made;
  made.from_ = std::move(from);
  made.name_ = std::move(name);
  const auto size = made.from_->seekg(0, std::ios::end).tellg();
  if (size < 0)
    return fail(errc::not_found, "{}: cannot be read from any place", made.name_);
  made.size_ = static_cast<std::uint64_t>(size);
  while (made.end_ < made.size_) {
    const auto next = made.read(made.end_, payloads::skipped);
    if (!next)
      return fail(errc::invalid_argument, "{}: the frame at byte {}: {}", made.name_, made.end_,
                  next.error().text);
    if (next->end == 0)
      break;
    made.entries_.push_back({next->id, made.end_});
    made.end_ = next->end;
  }
  return made;
}

result<inference_request> recorded_requests::load(const entry& one) {
  auto found = read(one.offset, payloads::read);
  if (!found || found->end == 0 || found->id != one.id)
    return fail(errc::unavailable, "{}: the frame at byte {} is no longer there", name_,
                one.offset);
  return std::move(found->request);
}

result<recorded_requests::frame> recorded_requests::read(std::uint64_t offset, payloads what) {
  frame_scanner scanner{of_a_file()};
  std::vector<std::byte> head;
  std::array<std::byte, 4096> buffer; // NOLINT(*-member-init): filled before it is looked at
  std::optional<request_header> header;
  std::size_t payload = 0;
  for (;;) {
    if (scanner.now() == frame_scanner::state::failed)
      return tl::unexpected<error>{scanner.failure()};
    if (scanner.now() == frame_scanner::state::head) {
      // What the scanner leaves is the beginning of a value of a few bytes: read again.
      const auto got = read_at(offset, buffer.data(), buffer.size());
      const auto taken = scanner.scan(std::span{buffer}.first(got));
      head.insert(head.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(taken));
      offset += taken;
      if (taken == 0 && scanner.now() == frame_scanner::state::head)
        return frame{}; // the end
      continue;
    }
    if (!header) {
      auto decoded = header_of(scanner, head);
      if (!decoded)
        return propagate(std::move(decoded));
      header = std::move(*decoded);
    }
    const bool done = scanner.now() == frame_scanner::state::done;
    if (done && payload == header->sizes.size())
      return frame{*scanner.id(), std::move(header->request), offset};
    const auto bytes = scanner.payload_size();
    if (done || payload == header->sizes.size() || bytes != header->sizes[payload])
      return fail(errc::invalid_argument, "payload {} has {} bytes, its header says otherwise",
                  payload, bytes);
    if (bytes > size_ - std::min(offset, size_))
      return frame{};
    if (what == payloads::read) {
      auto block = allocate_aligned(bytes);
      if (read_at(offset, block.get(), bytes) != bytes)
        return frame{};
      const auto* data = block.get();
      header->request.inputs[payload].value.data = {std::move(block), {data, bytes}};
    }
    ++payload;
    offset += bytes;
    scanner.payload_taken();
  }
}

// As many bytes as there are.
std::size_t recorded_requests::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) {
  from_->clear();
  from_->seekg(static_cast<std::streamoff>(offset));
  from_->read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(from_->gcount());
}

} // namespace troupe::protocol::rpc
