#include "runtime/batching/policy.hpp"

namespace troupe::batching {

namespace {

bool open_to_more(const device_view& device) noexcept {
  return device.in_flight == 0 || device.running_is_short;
}

} // namespace

result<policy> preset(std::string_view name) {
  using namespace std::chrono_literals;
  if (name == "auto")
    return policy{.adapts = true};
  if (name == "latency")
    return policy{};
  if (name == "throughput")
    return policy{.min_rows = 32, .max_wait = 100ms, .max_rows = 256, .work_conserving = false};
  return fail(errc::invalid_argument,
              "batching preset: expected \"auto\", \"latency\" or \"throughput\", got \"{}\"",
              name);
}

bool should_close(const policy& rule, const queue_view& queue, const device_view& device,
                  time_point now) noexcept {
  if (queue.rows == 0 || device.in_flight >= device.tickets)
    return false;
  if (queue.rows >= rule.max_rows)
    return true;
  return open_to_more(device)
         && (rule.work_conserving || queue.rows >= rule.min_rows
             || now >= queue.oldest + rule.max_wait);
}

std::optional<time_point> next_deadline(const policy& rule, const queue_view& queue,
                                        const device_view& device) noexcept {
  if (queue.rows == 0 || device.in_flight >= device.tickets || !open_to_more(device))
    return std::nullopt;
  return queue.oldest + rule.max_wait;
}

} // namespace troupe::batching
