#include "runtime/placement/latency_profile.hpp"

#include <algorithm>
#include <iterator>

namespace troupe::placement {

namespace {

constexpr double weight_of_newest = 0.2;
constexpr double most_at_once = 8; // times what is known: the machine may just have stood still
constexpr std::chrono::milliseconds unknown_row{1};
// Times its own rows that others may have run before a size counts as not measured: few enough
// that what is tried for nothing costs less than a hundredth.
constexpr std::uint64_t remembered = 1024;

} // namespace

void latency_profile::record(std::int64_t rows, duration took) {
  const auto newest = static_cast<double>(took.count());
  rows_ += static_cast<std::uint64_t>(rows);
  auto [at, fresh] = seen_.try_emplace(rows);
  auto& one = at->second;
  const auto most = most_at_once * std::max(one.average, 1.0);
  one.average =
      fresh ? newest : one.average + weight_of_newest * (std::min(newest, most) - one.average);
  if (fresh || forgotten(rows, one))
    one.last.fill(newest);
  std::rotate(one.last.begin(), one.last.begin() + 1, one.last.end());
  one.last.back() = newest;
  one.rows_before = rows_;
}

bool latency_profile::forgotten(std::int64_t rows, const seen& one) const noexcept {
  return rows_ - one.rows_before > remembered * static_cast<std::uint64_t>(rows);
}

duration latency_profile::estimate(std::int64_t rows) const {
  if (seen_.empty())
    return unknown_row * rows;
  auto nanoseconds = [](double value) { return duration{static_cast<std::int64_t>(value)}; };
  auto above = seen_.lower_bound(rows);
  if (above != seen_.end() && above->first == rows)
    return nanoseconds(above->second.average);
  if (above == seen_.begin()) // a smaller batch costs no more than the smallest one seen
    return nanoseconds(above->second.average);
  const auto below = std::prev(above);
  if (above == seen_.end()) // beyond the largest: in proportion, the cautious guess
    return nanoseconds(below->second.average * static_cast<double>(rows)
                       / static_cast<double>(below->first));
  const auto share =
      static_cast<double>(rows - below->first) / static_cast<double>(above->first - below->first);
  return nanoseconds(below->second.average
                     + share * (above->second.average - below->second.average));
}

std::optional<duration> latency_profile::measured(std::int64_t rows) const {
  const auto at = seen_.find(rows);
  if (at == seen_.end() || forgotten(rows, at->second))
    return std::nullopt;
  auto last = at->second.last;
  std::ranges::sort(last);
  return duration{static_cast<std::int64_t>(last[1])};
}

void shape_profiles::record(std::size_t shape, std::int64_t rows, duration took) {
  overall_.record(rows, took);
  if (by_shape_.size() >= max_shapes && !by_shape_.contains(shape))
    by_shape_.erase(std::min_element(by_shape_.begin(), by_shape_.end(), [](auto& a, auto& b) {
      return a.second.last < b.second.last;
    }));
  auto& of_shape = by_shape_[shape];
  of_shape.profile.record(rows, took);
  of_shape.last = ++recorded_;
}

duration shape_profiles::estimate(std::size_t shape, std::int64_t rows) const {
  const auto at = by_shape_.find(shape);
  return at == by_shape_.end() ? overall_.estimate(rows) : at->second.profile.estimate(rows);
}

std::optional<duration> shape_profiles::measured(std::size_t shape, std::int64_t rows) const {
  const auto at = by_shape_.find(shape);
  return at == by_shape_.end() ? std::nullopt : at->second.profile.measured(rows);
}

} // namespace troupe::placement
