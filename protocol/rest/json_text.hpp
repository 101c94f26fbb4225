#pragma once

#include <string>
#include <string_view>

namespace troupe::protocol::rest {

/// Appends a JSON string, quotes and all. False, and nothing is appended, if the text is not UTF-8,
/// which JSON cannot carry.
[[nodiscard]] bool append_quoted(std::string& to, std::string_view text);

/// As `append_quoted`; of a text that is not UTF-8, every byte beyond ASCII becomes "?".
void append_lossy(std::string& to, std::string_view text);

} // namespace troupe::protocol::rest
