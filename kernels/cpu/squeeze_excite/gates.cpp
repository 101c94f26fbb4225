#include "kernels/cpu/squeeze_excite/gates.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::cpu::gates {

namespace {

std::int64_t padded(std::int64_t count) {
  const auto lanes = vector_lanes();
  return (count + lanes - 1) / lanes * lanes;
}

} // namespace

std::int64_t form::padded_channels() const {
  return padded(channels);
}

// Long enough that few vectors are left at its end, short enough for the first-level cache.
std::int64_t form::period() const {
  constexpr std::int64_t least = 512;
  constexpr std::int64_t most = 4096;
  const auto whole = std::lcm(channels, block_vectors * vector_lanes());
  const auto shortest = whole <= most ? whole : std::lcm(channels, vector_lanes());
  return (std::max(least, shortest) + shortest - 1) / shortest * shortest;
}

std::int64_t form::packed_squeeze() const {
  return squeezed * padded_channels();
}

std::int64_t form::packed_excite() const {
  return squeezed * padded_channels();
}

std::int64_t form::workspace() const {
  return padded(squeezed) + padded_channels();
}

void pack_squeeze(const form& of, const float* from, float* to) {
  const auto width = of.padded_channels();
  std::fill_n(to, of.packed_squeeze(), 0.0F);
  for (std::int64_t row = 0; row < of.squeezed; ++row)
    std::copy_n(from + row * of.channels, of.channels, to + row * width);
}

// Blocks of a few vectors of channels, in each of them all that is squeezed in turn: one stream.
void pack_excite(const form& of, const float* from, float* to) {
  const auto block = block_vectors * vector_lanes();
  for (std::int64_t first = 0; first < of.padded_channels(); first += block) {
    const auto width = std::min(block, of.padded_channels() - first);
    for (std::int64_t k = 0; k < of.squeezed; ++k)
      for (std::int64_t i = 0; i < width; ++i) {
        const auto channel = first + i;
        *to++ = channel < of.channels ? from[channel * of.squeezed + k] : 0.0F;
      }
  }
}

} // namespace troupe::cpu::gates
