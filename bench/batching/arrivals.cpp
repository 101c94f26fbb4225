#include "bench/batching/arrivals.hpp"

#include <cmath>
#include <memory>
#include <random>

namespace troupe::bench {

namespace {

constexpr double burst_seconds = 0.1; // on average
constexpr double pause_seconds = 0.2;

class source {
public:
  explicit source(const traffic& of) : of_(of), dice_(of.seed) {}

  std::optional<duration> next() {
    if (of_.pattern == "bursty")
      step_in_bursts();
    else
      at_ += exponential(1 / of_.rate);
    const auto at = duration{static_cast<std::int64_t>(at_ * 1e9)};
    return at < of_.length ? std::optional{at} : std::nullopt;
  }

private:
  // Not std::exponential_distribution, which differs between libraries.
  double exponential(double mean) {
    const auto share = static_cast<double>(dice_() >> 11) / 9007199254740992.0; // [0, 1)
    return -mean * std::log1p(-share);
  }

  void step_in_bursts() {
    const auto rate = of_.rate * (burst_seconds + pause_seconds) / burst_seconds;
    for (;;) {
      const auto gap = exponential(1 / rate);
      if (at_ + gap < burst_end_) {
        at_ += gap;
        return;
      }
      at_ = burst_end_ + exponential(pause_seconds);
      burst_end_ = at_ + exponential(burst_seconds);
    }
  }

  traffic of_;
  std::mt19937_64 dice_;
  double at_ = 0;
  double burst_end_ = 0;
};

} // namespace

std::function<std::optional<duration>()> arrivals(const traffic& of) {
  return [from = std::make_shared<source>(of)] { return from->next(); };
}

} // namespace troupe::bench
