#pragma once

#include "apps/ocr/program/reading_service.hpp"

#include <string>
#include <vector>

namespace troupe::ocr {

struct file_report {
  std::string file;
  result<page_text> text;
};

/// The lines of one image, one per line.
[[nodiscard]] std::string as_text(const page_text& of);

/// How long the steps took, in one line: "decode 3 ms, detect 120 ms, …".
[[nodiscard]] std::string timing_line(const page_text& of);

/// One JSON document: {"images": [{"file", "lines": [{"text", "score", "box"}], "timings_ms"}]};
/// an image that failed has "error" instead of the last two.
[[nodiscard]] std::string as_json(const std::vector<file_report>& reports);

} // namespace troupe::ocr
