#include "apps/troupe/profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace troupe::cli {
namespace {

constexpr std::array movers{"Reorder", "Identity", "Transpose", "Concat",  "Slice",
                            "Split",   "Gather",   "Reshape",   "Expand",  "Squeeze",
                            "Cast",    "Pad",      "Unsqueeze", "Flatten", "Tile"};

double ms(duration spent) {
  return std::chrono::duration<double, std::milli>(spent).count();
}

std::string shortened(const std::string& text, std::size_t limit) {
  return text.size() <= limit ? text : "…" + text.substr(text.size() - limit + 1);
}

struct sum {
  double ms = 0;
  std::size_t steps = 0;
};

} // namespace

bool moves_data(const plan::step& step) {
  return std::ranges::find(movers, std::string_view{step.op_type}) != movers.end();
}

exec::run_state::observer profile::watch() {
  return [this](std::size_t step, bool finished) {
    const auto now = std::chrono::steady_clock::now();
    if (finished) {
      const duration spent = now - began_;
      fastest_[step] = std::min(fastest_[step], spent);
      inside_ += spent;
    } else {
      began_ = now;
    }
  };
}

void profile::finish_run(duration whole) {
  whole_ = std::min(whole_, whole);
  outside_ = std::min(outside_, whole - std::exchange(inside_, duration{0}));
  ++runs_;
}

std::string profile::table() const {
  std::string text;
  const auto whole = ms(whole_);
  const auto share = [&](double part) { return whole > 0 ? 100 * part / whole : 0; };
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>9} {:>6} {:>8}  {:<16} {:<28} {:<20} {}\n", "ms", "%", "GFLOP/s",
                 "operator", "kernel", "output", "node");
  std::map<std::string, sum> by_operator;
  double moving = 0;
  for (std::size_t index = 0; index < plan_.steps.size(); ++index) {
    const auto& step = plan_.steps[index];
    const auto spent = ms(fastest_[index]);
    fmt::format_to(out, "{:9.4f} {:6.2f} {:>8}  {:<16} {:<28} {:<20} {}\n", spent, share(spent),
                   step.flops && spent > 0 ? fmt::format("{:.1f}", *step.flops / spent / 1e6) : "",
                   step.op_type, shortened(step.run->name(), 28),
                   to_string(step.outputs.empty() ? shape{} : step.outputs[0].desc.dims),
                   shortened(step.node, 40));
    auto& of = by_operator[step.op_type];
    of.ms += spent;
    ++of.steps;
    if (moves_data(step))
      moving += spent;
  }
  std::vector<std::pair<std::string, sum>> sorted{by_operator.begin(), by_operator.end()};
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const auto& row) { return row.second.ms; });
  fmt::format_to(out, "\n{:>9} {:>6} {:>8}  operator\n", "ms", "%", "steps");
  for (const auto& [op, of] : sorted)
    fmt::format_to(out, "{:9.4f} {:6.2f} {:8}  {}\n", of.ms, share(of.ms), of.steps, op);
  fmt::format_to(
      out,
      "\nnot compute: {:.4f} ms ({:.2f} %): {:.4f} ms moving data, {:.4f} ms outside of steps; "
      "whole run {:.4f} ms (fastest of {})\n",
      moving + ms(outside_), share(moving + ms(outside_)), moving, ms(outside_), whole, runs_);
  return text;
}

nlohmann::json profile::json() const {
  auto rows = nlohmann::json::array();
  double moving = 0;
  for (std::size_t index = 0; index < plan_.steps.size(); ++index) {
    const auto& step = plan_.steps[index];
    const auto spent = ms(fastest_[index]);
    nlohmann::json row{{"node", step.node},
                       {"operator", step.op_type},
                       {"kernel", step.run->name()},
                       {"ms", spent}};
    if (step.flops && spent > 0)
      row["gflops"] = *step.flops / spent / 1e6;
    rows.push_back(std::move(row));
    if (moves_data(step))
      moving += spent;
  }
  return {{"steps", std::move(rows)}, {"moving_ms", moving}, {"outside_ms", ms(outside_)}};
}

} // namespace troupe::cli
