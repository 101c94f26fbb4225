#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace troupe::exec {

/// Batch sizes worth a plan of their own: the powers of two and those configured. Running a batch
/// in the next larger one costs some padding; planning every size costs milliseconds and memory
/// each.
class batch_buckets {
public:
  explicit batch_buckets(std::span<const std::int64_t> configured = {});

  /// The smallest bucket of at least `rows` rows; `rows` >= 1.
  [[nodiscard]] std::int64_t holding(std::int64_t rows) const noexcept;

private:
  std::vector<std::int64_t> configured_; // ascending
};

} // namespace troupe::exec
