#include "runtime/batching/buckets.hpp"

#include "kernels/base/small_vector.hpp"

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

// n rows that are served r a nanosecond in batches of b are answered after (n + b) / 2r on average,
// and gone after n / r. A device that is busy for a share p of its time then needs 1 / (1 - p)
// times as long until nothing waits, while p * r rows come a nanosecond: those wait longer by what
// n / r is longer than it need be. Divided by n, the sum is the least where r / (b / n + (1 + p) /
// (1 - p)) is the most.
std::int64_t worth_running(const waiting_rows& of,
                           const std::function<std::int64_t(std::int64_t)>& bucket,
                           const std::function<std::optional<duration>(std::int64_t)>& measured) {
  constexpr double busiest = 0.99; // beyond it the rate alone would count, to the last noise
  const auto padded = bucket(of.fit);
  const auto whole = measured(padded);
  if (!whole)
    return of.fit;
  const auto rate = [](std::int64_t rows, duration in) {
    return static_cast<double>(rows) / std::max(1.0, static_cast<double>(in.count()));
  };
  struct size {
    std::int64_t rows = 0;
    double rate = 0;
  };
  small_vector<size, 16> sizes;
  double fastest = 0;
  for (std::int64_t rows = bucket(1), last = 0; rows > last && rows <= of.most;
       last = rows, rows = bucket(rows + 1))
    if (const auto took = measured(rows)) {
      fastest = std::max(fastest, rate(rows, *took));
      if (rows < of.fit)
        sizes.push_back({rows, rate(rows, *took)});
    }
  sizes.push_back({of.fit, rate(of.fit, *whole)});
  const auto busy = fastest > 0 ? std::min(busiest, of.arriving_per_ns / fastest) : busiest;
  const auto score = [&](const size& one) {
    return one.rate
           / (static_cast<double>(one.rows) / static_cast<double>(of.all)
              + (1 + busy) / (1 - busy));
  };
  return std::max_element(sizes.begin(), sizes.end(),
                          [&](auto& a, auto& b) { return score(a) < score(b); })
      ->rows;
}

} // namespace troupe::batching
