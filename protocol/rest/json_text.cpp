#include "protocol/rest/json_text.hpp"

#include <simdjson.h>

#include <algorithm>

namespace troupe::protocol::rest {

bool append_quoted(std::string& to, std::string_view text) {
  if (!simdjson::validate_utf8(text.data(), text.size()))
    return false;
  constexpr std::string_view digits = "0123456789abcdef";
  to += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (c == '\n') {
      to += "\\n";
    } else if (byte < 0x20) {
      to += "\\u00";
      to += digits[byte >> 4];
      to += digits[byte & 15u];
    } else {
      to += c;
    }
  }
  to += '"';
  return true;
}

void append_lossy(std::string& to, std::string_view text) {
  if (append_quoted(to, text))
    return;
  std::string ascii{text};
  std::replace_if(
      ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; },
      '?');
  (void)append_quoted(to, ascii);
}

} // namespace troupe::protocol::rest
