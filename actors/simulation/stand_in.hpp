#pragma once

#include "runtime/placement/executable.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

namespace troupe::actors::simulation {

/// What executables that only stand for a model have in common: rows are independent, and buckets
/// are powers of two.
class stand_in : public placement::executable {
public:
  stand_in(std::shared_ptr<device> on, signature io, std::size_t weight_bytes)
      : on_(std::move(on)), io_(std::move(io)), weight_bytes_(weight_bytes) {}

  const signature& io() const noexcept override { return io_; }
  bool rows_independent() const noexcept override { return true; }
  std::string why_rows_depend() const override { return {}; }
  device& on() const noexcept override { return *on_; }
  std::size_t weight_bytes() const noexcept override { return weight_bytes_; }
  std::int64_t bucket_for(std::int64_t rows) const noexcept override {
    return static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1))));
  }

private:
  std::shared_ptr<device> on_;
  signature io_;
  std::size_t weight_bytes_;
};

/// Of a model that answers `y` as it was asked `x`: [rows, columns], both free.
[[nodiscard]] inline signature x_to_y(dtype type) {
  const auto named = [type](const char* name) {
    return tensor_signature{name, type, {-1, -1}, {"", ""}, {}, false, {}};
  };
  return {{named("x")}, {named("y")}, 0};
}

} // namespace troupe::actors::simulation
