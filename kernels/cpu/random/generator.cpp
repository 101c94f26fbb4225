#include "kernels/cpu/random/generator.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <random>

namespace troupe::cpu {

namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U; // 2^64 divided by the golden ratio

std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

} // namespace

double random_stream::uniform(std::uint64_t i) const noexcept {
  return static_cast<double>(mixed(key_ + (i + 1) * golden) >> 11U) * 0x1p-53;
}

double random_stream::normal(std::uint64_t i) const noexcept {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * i)));
  return radius * std::cos(2 * std::numbers::pi * uniform(2 * i + 1));
}

random_source::random_source(const attribute_map& attributes) {
  if (const auto* whole = attributes.find<std::int64_t>("seed"); whole != nullptr) {
    seed_ = mixed(static_cast<std::uint64_t>(*whole) + golden);
    return;
  }
  if (attributes.has("seed")) {
    seed_ = mixed(std::bit_cast<std::uint32_t>(attributes.real("seed", 0.0F)) + golden);
    return;
  }
  std::random_device entropy;
  seed_ = (std::uint64_t{entropy()} << 32U) | entropy();
  launches_ = std::make_shared<std::atomic<std::uint64_t>>(0);
}

random_stream random_source::next() const noexcept {
  const auto launch = launches_ ? launches_->fetch_add(1, std::memory_order_relaxed) : 0;
  return random_stream{mixed(seed_ + launch * golden)};
}

} // namespace troupe::cpu
