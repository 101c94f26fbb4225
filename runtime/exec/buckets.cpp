#include "runtime/exec/buckets.hpp"

#include <algorithm>
#include <bit>

namespace troupe::exec {

batch_buckets::batch_buckets(std::span<const std::int64_t> configured)
    : configured_{configured.begin(), configured.end()} {
  std::erase_if(configured_, [](std::int64_t rows) { return rows < 1; });
  std::ranges::sort(configured_);
}

std::int64_t batch_buckets::holding(std::int64_t rows) const noexcept {
  const auto power = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1))));
  const auto at = std::ranges::lower_bound(configured_, rows);
  return at == configured_.end() ? power : std::min(power, *at);
}

} // namespace troupe::exec
