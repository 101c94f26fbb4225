#include "apps/ocr/text/alphabet.hpp"

namespace troupe::ocr {

result<alphabet> alphabet::parse(std::string_view lines) {
  alphabet parsed;
  parsed.symbols_.emplace_back();
  while (!lines.empty()) {
    auto end = lines.find('\n');
    auto line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    parsed.symbols_.emplace_back(line);
  }
  if (parsed.symbols_.size() == 1)
    return fail(errc::failed_precondition,
                "recognition model: expected its characters one a line, got none");
  parsed.symbols_.emplace_back(" ");
  return parsed;
}

} // namespace troupe::ocr
