#include "actors/simulation/policy_name.hpp"

#include <charconv>
#include <optional>

namespace troupe::actors::simulation {

namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

result<batching::policy> policy_named(std::string_view name) {
  constexpr std::string_view fixed = "fixed:";
  if (name == "none")
    return batching::policy{.max_rows = 1};
  if (!name.starts_with(fixed)) {
    if (auto preset = batching::preset(name))
      return preset;
    return fail(errc::invalid_argument,
                "policy: expected auto, latency, throughput, none or fixed:SIZE:DELAY, got \"{}\"",
                name);
  }
  const auto rest = name.substr(fixed.size());
  const auto colon = rest.find(':');
  const auto size = number<std::int64_t>(rest.substr(0, colon));
  const auto delay =
      colon == std::string_view::npos ? std::nullopt : number<double>(rest.substr(colon + 1));
  if (!size || *size < 1 || !delay || !(*delay >= 0) || *delay > 3'600'000)
    return fail(errc::invalid_argument,
                "policy: expected fixed:SIZE:DELAY with rows and milliseconds, got \"{}\"", name);
  return batching::policy{.min_rows = *size,
                          .max_wait = std::chrono::duration_cast<duration>(
                              std::chrono::duration<double, std::milli>{*delay}),
                          .work_conserving = *delay == 0};
}

} // namespace troupe::actors::simulation
