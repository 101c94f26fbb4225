#include "runtime/batching/adaptive_size.hpp"

#include <algorithm>

namespace troupe::batching {

namespace {

constexpr double least_share = 1.0 / 16;
constexpr double about_as_fast = 1.1;

} // namespace

adaptive_size::adaptive_size(duration objective, std::int64_t most)
    : objective_{objective}, most_{std::max<std::int64_t>(most, 1)} {}

duration adaptive_size::allowed() const {
  return duration{static_cast<std::int64_t>(static_cast<double>(objective_.count()) / 2 * share_)};
}

std::int64_t adaptive_size::rows(const std::function<duration(std::int64_t)>& estimate) const {
  if (objective_ <= duration{0} || !estimate)
    return most_;
  const auto one = estimate(1);
  const auto limit = std::max(allowed(), duration{static_cast<std::int64_t>(
                                             static_cast<double>(one.count()) * about_as_fast)});
  // Times grow with size, noise apart: the boundary is found by halving.
  std::int64_t fits = 1;
  std::int64_t too_many = most_ + 1;
  while (too_many - fits > 1) {
    const auto middle = fits + (too_many - fits) / 2;
    (estimate(middle) <= limit ? fits : too_many) = middle;
  }
  return fits;
}

void adaptive_size::ran(std::int64_t rows, duration took) {
  if (objective_ <= duration{0})
    return;
  if (rows > 1 && took > objective_ / 2)
    share_ = std::max(least_share, share_ / 2);
  else
    share_ = std::min(1.0, share_ * 1.1);
}

} // namespace troupe::batching
