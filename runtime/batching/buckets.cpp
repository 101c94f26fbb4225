#include "runtime/batching/buckets.hpp"

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

} // namespace troupe::batching
