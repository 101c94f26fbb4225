#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace troupe::sequences {

/// What a client calls one of its sequences: a number other than 0 or a text that is not empty. 7
/// and "7" are two sequences.
using sequence_id = std::variant<std::int64_t, std::string>;

/// Longest text that may be an id.
inline constexpr std::size_t max_id_bytes = 128;

/// For messages: 7, or "7".
inline std::string to_text(const sequence_id& of) {
  const auto* text = std::get_if<std::string>(&of);
  return text ? fmt::format("\"{}\"", *text) : std::to_string(std::get<std::int64_t>(of));
}

} // namespace troupe::sequences
