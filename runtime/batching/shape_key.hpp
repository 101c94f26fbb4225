#pragma once

#include "kernels/base/small_vector.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe::batching {

/// What two requests must share to run in one batch: types and dims of every input, axis 0 left
/// out.
class shape_key {
public:
  shape_key() = default;

  /// Inputs are added in the order of the model's signature.
  void add(dtype type, std::span<const std::int64_t> dims, bool batched);

  [[nodiscard]] std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const shape_key& a, const shape_key& b) noexcept {
    return a.hash_ == b.hash_ && a.parts_ == b.parts_;
  }

private:
  void put(std::int64_t part);

  small_vector<std::int64_t, 12> parts_;
  std::size_t hash_ = 1469598103934665603ULL;
};

struct shape_key_hash {
  std::size_t operator()(const shape_key& key) const noexcept { return key.hash(); }
};

} // namespace troupe::batching
