#include "runtime/batching/buckets.hpp"

#include <algorithm>

namespace troupe::batching {

bucket_choice choose_bucket(std::int64_t rows, std::int64_t wanted,
                            std::span<const std::int64_t> planned,
                            const placement::latency_profile& profile, duration planning) {
  using way = bucket_choice::way;
  bucket_choice best{way::wait, wanted};
  auto cost = planning + profile.estimate(wanted);
  for (auto bucket : planned) {
    if (bucket == wanted)
      return {way::exact, bucket};
    const auto runs = (rows + bucket - 1) / bucket;
    const auto needed = profile.estimate(bucket) * runs;
    if (needed < cost) {
      cost = needed;
      best = {runs == 1 ? way::pad : way::split, bucket};
    }
  }
  return best;
}

std::int64_t worth_running(std::int64_t rows,
                           const std::function<std::int64_t(std::int64_t)>& bucket,
                           const std::function<std::optional<duration>(std::int64_t)>& measured) {
  const auto padded = bucket(rows);
  if (padded <= rows)
    return rows;
  std::int64_t smaller = 0; // of the next size down, found by halving
  for (auto larger = rows; larger - smaller > 1;) {
    const auto middle = smaller + (larger - smaller) / 2;
    (bucket(middle) == padded ? larger : smaller) = middle;
  }
  if (smaller == 0)
    return rows;
  const auto whole = measured(padded);
  const auto part = measured(smaller);
  if (!whole || !part)
    return rows;
  const auto rate = [](std::int64_t of, duration in) {
    return static_cast<double>(of) / std::max(1.0, static_cast<double>(in.count()));
  };
  return rate(smaller, *part) > rate(rows, *whole) ? smaller : rows;
}

} // namespace troupe::batching
