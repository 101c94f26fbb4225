#include "protocol/msgpack/scanner.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace troupe::protocol::rpc {

/// A value's leading bytes, by the table of the MessagePack specification.
struct frame_scanner::token {
  enum class type : std::uint8_t {
    partial,
    unsigned_integer,
    scalar,
    string,
    binary,
    array,
    map,
    bad
  };

  type what = type::partial;
  std::size_t length = 0;  ///< bytes of the token itself
  std::uint64_t value = 0; ///< the integer, or the size or count that it claims

  static token read(std::span<const std::byte> bytes) noexcept;
};

frame_scanner::token frame_scanner::token::read(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty())
    return {};
  const auto lead = std::to_integer<std::uint8_t>(bytes[0]);
  const auto with_size = [&](type what, std::size_t size_bytes) noexcept -> token {
    if (bytes.size() < 1 + size_bytes)
      return {};
    std::uint64_t value = 0;
    for (std::size_t i = 1; i <= size_bytes; ++i)
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    return {what, 1 + size_bytes, value};
  };
  if (lead <= 0x7f)
    return {type::unsigned_integer, 1, lead};
  if (lead <= 0x8f)
    return {type::map, 1, lead & 0x0fu};
  if (lead <= 0x9f)
    return {type::array, 1, lead & 0x0fu};
  if (lead <= 0xbf)
    return {type::string, 1, lead & 0x1fu};
  if (lead >= 0xe0)
    return {type::scalar, 1, 0};
  switch (lead) {
    case 0xc0:
    case 0xc2:
    case 0xc3: return {type::scalar, 1, 0};
    case 0xc4: return with_size(type::binary, 1);
    case 0xc5: return with_size(type::binary, 2);
    case 0xc6: return with_size(type::binary, 4);
    case 0xca: return with_size(type::scalar, 4);
    case 0xcb: return with_size(type::scalar, 8);
    case 0xcc: return with_size(type::unsigned_integer, 1);
    case 0xcd: return with_size(type::unsigned_integer, 2);
    case 0xce: return with_size(type::unsigned_integer, 4);
    case 0xcf: return with_size(type::unsigned_integer, 8);
    case 0xd0: return with_size(type::scalar, 1);
    case 0xd1: return with_size(type::scalar, 2);
    case 0xd2: return with_size(type::scalar, 4);
    case 0xd3: return with_size(type::scalar, 8);
    case 0xd9: return with_size(type::string, 1);
    case 0xda: return with_size(type::string, 2);
    case 0xdb: return with_size(type::string, 4);
    case 0xdc: return with_size(type::array, 2);
    case 0xdd: return with_size(type::array, 4);
    case 0xde: return with_size(type::map, 2);
    case 0xdf: return with_size(type::map, 4);
    default: return {type::bad, 1, lead}; // ext, and the byte that MessagePack never uses
  }
}

bool frame_scanner::reject(errc code, std::string text) {
  failure_ = {code, std::move(text)};
  state_ = state::failed;
  return false;
}

std::size_t frame_scanner::scan(std::span<const std::byte> bytes) {
  std::size_t taken = 0;
  while (state_ == state::head) {
    if (skip_ > 0) {
      const auto part = std::min<std::uint64_t>(skip_, bytes.size() - taken);
      taken += part;
      consumed_ += part;
      skip_ -= part;
      if (skip_ > 0)
        break;
      finish_value();
      continue;
    }
    const auto next = token::read(bytes.subspan(taken));
    if (next.what == token::type::partial)
      break;
    if (!take(next))
      break;
    taken += next.length;
  }
  return taken;
}

bool frame_scanner::take(const token& next) {
  using type = token::type;
  if (next.what == type::bad)
    return reject(errc::invalid_argument,
                  fmt::format("byte 0x{:02x} at offset {} of the frame's head starts no value that "
                              "this protocol uses",
                              next.value, consumed_));
  if (++values_ > bounds_.values)
    return reject(errc::resource_exhausted,
                  fmt::format("frame head holds more than {} values", bounds_.values));
  if (next.length > bounds_.head_bytes - consumed_)
    return reject(errc::resource_exhausted,
                  fmt::format("frame head is longer than {} bytes", bounds_.head_bytes));

  const bool in_last = depth_ > 0 && left_[0] == 1;
  const std::size_t start = consumed_;
  if (depth_ == 0) {
    if (next.what != type::array || next.value < 3 || next.value > 4)
      return reject(errc::invalid_argument, "a frame is an array of 3 or 4 elements");
    elements_ = static_cast<std::uint32_t>(next.value);
  } else if (depth_ == 1) {
    const auto index = elements_ - left_[0];
    element_[index] = start;
    if (index == 0) {
      if (next.what != type::unsigned_integer || next.value > 2
          || elements_ != (next.value == 2 ? 3u : 4u))
        return reject(
            errc::invalid_argument,
            "a frame is [0, id, method, params], [1, id, error, result] or [2, method, params]");
      kind_ = static_cast<frame_kind>(next.value);
    } else if (index == 1 && kind_ != frame_kind::notification) {
      if (next.what != type::unsigned_integer || next.value > 0xffff'ffffu)
        return reject(errc::invalid_argument, "a frame's id is an unsigned integer below 2^32");
      id_ = static_cast<std::uint32_t>(next.value);
    } else if (kind_ != frame_kind::response && !in_last) {
      if (next.what != type::string)
        return reject(errc::invalid_argument, "a frame's method is a string");
    } else if (in_last) {
      if (next.what == type::array)
        parameters_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(next.value, 0xffff'ffffu));
      else if (kind_ != frame_kind::response)
        return reject(errc::invalid_argument, "a frame's params are an array");
    }
  } else if (depth_ == 2 && in_last && parameters_ > 0 && left_[1] == parameters_) {
    header_begin_ = start;
  }

  switch (next.what) {
    case type::array: consumed_ += next.length; return open(next.value, true);
    case type::map: consumed_ += next.length; return open(next.value, false);
    case type::string:
      consumed_ += next.length;
      if (next.value > bounds_.head_bytes - consumed_)
        return reject(
            errc::resource_exhausted,
            fmt::format("a string of {} bytes does not fit a frame head of at most {} bytes",
                        next.value, bounds_.head_bytes));
      skip_ = next.value;
      if (skip_ == 0)
        finish_value();
      return true;
    case type::binary: {
      const bool is_payload = depth_ == 2 && in_last && parameters_ > 0 && left_[1] < parameters_;
      if (!is_payload)
        return reject(errc::invalid_argument,
                      "a bin may stand only after the header, as a tensor's payload");
      if (next.value > bounds_.payload_bytes - payload_total_)
        return reject(
            errc::resource_exhausted,
            fmt::format("a payload of {} bytes takes the frame beyond {} bytes of payload",
                        next.value, bounds_.payload_bytes));
      if (++payloads_ > bounds_.tensors)
        return reject(errc::resource_exhausted,
                      fmt::format("a frame carries at most {} payloads", bounds_.tensors));
      consumed_ += next.length;
      payload_size_ = next.value;
      payload_total_ += next.value;
      state_ = state::payload;
      return true;
    }
    default:
      consumed_ += next.length;
      finish_value();
      return true;
  }
}

bool frame_scanner::open(std::uint64_t count, bool is_array) {
  const std::uint64_t children = is_array ? count : 2 * count;
  if (children > bounds_.values - values_)
    return reject(errc::resource_exhausted,
                  fmt::format("{} of {} elements in a frame head of at most {} values",
                              is_array ? "an array" : "a map", count, bounds_.values));
  if (children == 0) {
    finish_value();
    return true;
  }
  if (depth_ >= std::min<std::size_t>(bounds_.depth, left_.size()))
    return reject(errc::resource_exhausted,
                  fmt::format("a frame head is nested deeper than {}", bounds_.depth));
  left_[depth_++] = children;
  return true;
}

void frame_scanner::finish_value() noexcept {
  while (depth_ > 0) {
    --left_[depth_ - 1];
    if (depth_ == 2 && left_[0] == 1 && parameters_ > 0 && left_[1] + 1 == parameters_)
      header_end_ = consumed_;
    if (left_[depth_ - 1] > 0)
      return;
    --depth_;
  }
  state_ = state::done;
}

void frame_scanner::payload_taken() noexcept {
  payload_size_ = 0;
  state_ = state::head;
  finish_value();
}

void frame_scanner::reset() noexcept {
  const limits bounds = bounds_;
  *this = frame_scanner(bounds);
}

} // namespace troupe::protocol::rpc
