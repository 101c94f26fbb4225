#include "apps/ocr/program/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace troupe::ocr {
namespace {

nlohmann::ordered_json line_json(const text_line& line) {
  auto box = nlohmann::ordered_json::array();
  for (auto [x, y] : line.box)
    box.push_back({x, y});
  return {{"text", line.text}, {"score", line.score}, {"box", std::move(box)}};
}

} // namespace

std::string as_text(const page_text& of) {
  std::string text;
  for (const auto& line : of.lines)
    text += line.text + '\n';
  return text;
}

std::string timing_line(const page_text& of) {
  constexpr std::array<std::string_view, 4> steps{"decode", "detect", "classify", "recognise"};
  std::string line;
  for (auto step : steps)
    if (auto found = of.timings_ms.find(fmt::format("{}_ms", step)); found != of.timings_ms.end())
      line += fmt::format("{}{} {:.0f} ms", line.empty() ? "" : ", ", step, found->second);
  return line;
}

std::string as_json(const std::vector<file_report>& reports) {
  auto images = nlohmann::ordered_json::array();
  for (const auto& [file, text] : reports) {
    nlohmann::ordered_json entry{{"file", file}};
    if (text) {
      entry["lines"] = nlohmann::ordered_json::array();
      for (const auto& line : text->lines)
        entry["lines"].push_back(line_json(line));
      entry["timings_ms"] = text->timings_ms;
    } else {
      entry["error"] = text.error().text;
    }
    images.push_back(std::move(entry));
  }
  nlohmann::ordered_json document{{"images", std::move(images)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace troupe::ocr
