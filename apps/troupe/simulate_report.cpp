#include "apps/troupe/simulate_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe::cli {

namespace {

using actors::simulation::captured;
using actors::simulation::device_outcome;
using actors::simulation::model_outcome;
using actors::simulation::outcome;

double seconds(duration of) {
  return std::chrono::duration<double>(of).count();
}

double ms(duration of) {
  return seconds(of) * 1e3;
}

double share(duration busy, duration span) {
  return span > duration{0} ? std::min(1.0, seconds(busy) / seconds(span)) : 0;
}

double per_second(std::int64_t rows, duration span) {
  return span > duration{0} ? static_cast<double>(rows) / seconds(span) : 0;
}

double rows_of_a_batch(const model_outcome& of) {
  return of.runs > 0 ? static_cast<double>(of.rows) / static_cast<double>(of.runs) : 0;
}

void print_model(const model_outcome& of, const char* which, duration span) {
  fmt::print("{:<20} {:>7} {:<9} {:>8} {:>8} {:>7} {:>6} {:>6} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} "
             "{:>9.1f} {:>6.1f}\n",
             of.name, of.version, which, of.asked, of.answered, of.refused, of.expired, of.failed,
             ms(of.mean()), ms(of.quantile(0.5)), ms(of.quantile(0.99)), ms(of.quantile(1)),
             per_second(of.rows, span), rows_of_a_batch(of));
}

const model_outcome* counterpart(const model_outcome& of, const outcome& in) {
  for (const auto& one : in.models)
    if (one.name == of.name && one.version == of.version)
      return &one;
  return nullptr;
}

nlohmann::json as_json(const model_outcome& of, duration span) {
  return {{"model", of.name},
          {"version", of.version},
          {"requests", of.asked},
          {"answered", of.answered},
          {"refused", of.refused},
          {"late", of.expired},
          {"failed", of.failed},
          {"in_time", of.in_time},
          {"mean_ms", ms(of.mean())},
          {"p50_ms", ms(of.quantile(0.5))},
          {"p90_ms", ms(of.quantile(0.9))},
          {"p99_ms", ms(of.quantile(0.99))},
          {"max_ms", ms(of.quantile(1))},
          {"rows_per_second", per_second(of.rows, span)},
          {"batches", of.runs},
          {"rows_per_batch", rows_of_a_batch(of)}};
}

nlohmann::json as_json(const outcome& of) {
  auto models = nlohmann::json::array();
  for (const auto& one : of.models)
    models.push_back(as_json(one, of.span));
  auto devices = nlohmann::json::array();
  for (const auto& one : of.devices)
    devices.push_back({{"device", one.name}, {"busy", share(one.busy, of.span)}});
  return {{"seconds", seconds(of.span)},
          {"models", std::move(models)},
          {"devices", std::move(devices)}};
}

void print_notes(const captured& from) {
  if (from.cut_off)
    fmt::print(
        "          the file ends in the middle of a record: the server ended without notice\n");
  if (from.lost > 0)
    fmt::print("          {} records are missing: the disk was slower than the requests\n",
               from.lost);
  if (from.turned_away > 0)
    fmt::print(
        "          {} requests were turned away at the door; each is taken to have been like "
        "the one before it\n",
        from.turned_away);
  if (from.left_out > 0)
    fmt::print("          {} requests are left out: no batch of their model ran\n", from.left_out);
}

} // namespace

void print_simulation(const std::string& file, const captured& from, const std::string& how,
                      const outcome& played) {
  fmt::print("capture   {}: {} requests in {:.1f} s\n", file, from.arrivals.size(),
             seconds(from.length));
  print_notes(from);
  fmt::print("simulated {}\n\n", how);
  fmt::print(
      "{:<20} {:>7} {:<9} {:>8} {:>8} {:>7} {:>6} {:>6} {:>8} {:>8} {:>8} {:>8} {:>9} {:>6}\n",
      "MODEL", "VERSION", "", "REQUESTS", "ANSWERED", "REFUSED", "LATE", "FAILED", "MEAN ms",
      "P50 ms", "P99 ms", "MAX ms", "ROWS/s", "BATCH");
  for (const auto& one : played.models) {
    if (const auto* was = counterpart(one, from.measured))
      print_model(*was, "measured", from.measured.span);
    print_model(one, "simulated", played.span);
    if (one.in_time < one.answered)
      fmt::print("{:<38} {} of {} answers within the SLO\n", "", one.in_time, one.answered);
  }
  fmt::print("\n{:<28} {:>9} {:>9}\n", "DEVICE", "MEASURED", "SIMULATED");
  for (std::size_t i = 0; i < played.devices.size(); ++i) {
    const auto& was = from.measured.devices;
    const auto measured =
        i < was.size() ? fmt::format("{:.1f} %", 100 * share(was[i].busy, from.measured.span))
                       : "-";
    fmt::print("{:<28} {:>9} {:>7.1f} %\n", played.devices[i].name, measured,
               100 * share(played.devices[i].busy, played.span));
  }
}

void print_simulation_json(const captured& from, const outcome& played) {
  const nlohmann::json all{{"requests", from.arrivals.size()}, {"cut_off", from.cut_off},
                           {"lost_records", from.lost},        {"turned_away", from.turned_away},
                           {"left_out", from.left_out},        {"measured", as_json(from.measured)},
                           {"simulated", as_json(played)}};
  fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace troupe::cli
