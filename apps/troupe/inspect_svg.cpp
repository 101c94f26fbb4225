#include "apps/troupe/inspect_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace troupe::cli {
namespace {

constexpr double width = 1200;
constexpr double height = 560;
constexpr double left = 90;
constexpr double top = 70;
constexpr std::array colours{"#4e79a7", "#59a14f", "#9c755f", "#f28e2b",
                             "#b07aa1", "#76b7b2", "#edc948", "#e15759"};

constexpr auto other_colour = "#bab0ac";
constexpr auto workspace_colour = "#dddddd";

std::string escaped(std::string_view text) {
  std::string made;
  for (char c : text) {
    if (c == '&')
      made += "&amp;";
    else if (c == '<')
      made += "&lt;";
    else if (c == '"')
      made += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      made += c;
  }
  return made;
}

std::string readable(std::size_t bytes) {
  if (bytes >= 1'000'000)
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
}

/// The colour of an operator: the same one throughout a drawing, the most frequent operators first.
class palette {
public:
  explicit palette(const plan::plan& of) {
    for (const auto& step : of.steps) {
      auto known = std::ranges::find(counts_, step.op_type, &count::op);
      if (known == counts_.end())
        counts_.push_back({step.op_type, 1});
      else
        ++known->steps;
    }
    std::ranges::stable_sort(counts_, std::ranges::greater{}, &count::steps);
  }

  [[nodiscard]] const char* of(std::string_view op) const {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(counts_, op, &count::op) - counts_.begin());
    return at < colours.size() ? colours[at] : other_colour;
  }

  [[nodiscard]] bool has_others() const { return counts_.size() > colours.size(); }

  [[nodiscard]] std::vector<std::string> named() const {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < std::min(colours.size(), counts_.size()); ++at)
      names.push_back(counts_[at].op);
    return names;
  }

private:
  struct count {
    std::string op;
    std::size_t steps = 0;
  };
  std::vector<count> counts_;
};

} // namespace

std::string memory_svg(const std::string& title, const plan::plan& of) {
  const auto steps = static_cast<double>(std::max<std::size_t>(of.steps.size(), 1));
  const auto bytes = static_cast<double>(std::max<std::size_t>(of.arena_bytes, 1));
  const auto x = [&](std::size_t step) { return left + width * static_cast<double>(step) / steps; };
  const auto y = [&](std::size_t offset) {
    return top + height * (1 - static_cast<double>(offset) / bytes);
  };
  std::string svg;
  auto out = std::back_inserter(svg);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                 "height=\"{1}\" font-family=\"sans-serif\" font-size=\"14\">\n"
                 "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                 left + width + 30, top + height + 60);
  fmt::format_to(
      out,
      "<text x=\"{}\" y=\"24\" font-size=\"18\">{}: {} steps, arena {} (at least {} alive at "
      "once)</text>\n",
      left, escaped(title), of.steps.size(), readable(of.arena_bytes),
      readable(of.live_bound_bytes));
  const palette colour{of};
  double legend = left;
  const auto add_legend = [&](std::string_view name, std::string_view fill) {
    fmt::format_to(out,
                   "<rect x=\"{}\" y=\"38\" width=\"14\" height=\"14\" fill=\"{}\"/>"
                   "<text x=\"{}\" y=\"50\">{}</text>\n",
                   legend, fill, legend + 19, escaped(name));
    legend += 42 + 8.2 * static_cast<double>(name.size());
  };
  for (const auto& op : colour.named())
    add_legend(op, colour.of(op));
  if (colour.has_others())
    add_legend("others", other_colour);
  add_legend("workspace", workspace_colour);
  for (const auto& block : arena_blocks(of)) {
    const auto& step = of.steps[block.first];
    fmt::format_to(
        out,
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "stroke=\"#fff\" stroke-width=\"0.6\"><title>{} ({}) {}, steps {} to {}</title></rect>\n",
        x(block.first), y(block.offset + block.bytes), x(block.last + 1) - x(block.first),
        y(block.offset) - y(block.offset + block.bytes),
        block.workspace ? workspace_colour : colour.of(step.op_type), escaped(step.node),
        escaped(step.op_type), readable(block.bytes), block.first, block.last);
  }
  for (int mark = 0; mark <= 4; ++mark) {
    const auto offset = of.arena_bytes * static_cast<std::size_t>(mark) / 4;
    const auto step = of.steps.size() * static_cast<std::size_t>(mark) / 4;
    fmt::format_to(out,
                   "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
                   "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                   left - 8, y(offset) + 5, readable(offset), x(step), top + height + 20, step);
  }
  fmt::format_to(out,
                 "<path d=\"M{0} {1} V{2} H{3}\" fill=\"none\" stroke=\"#333\"/>\n"
                 "<text x=\"{4}\" y=\"{5}\" text-anchor=\"middle\">step</text>\n</svg>\n",
                 left, top, top + height, left + width, left + width / 2, top + height + 44);
  return svg;
}

} // namespace troupe::cli
