#include "kernels/cpu/isa.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace troupe::cpu {

namespace {

result<std::optional<isa>> read_cap() {
  const char* set = std::getenv("TROUPE_MAX_ISA"); // NOLINT(concurrency-mt-unsafe): never written
  if (set == nullptr || *set == '\0')
    return std::optional<isa>{};
  const std::string_view name{set};
  if (name == "scalar")
    return isa::scalar;
  if (name == "sse4")
    return isa::sse4;
  if (name == "avx2")
    return isa::avx2;
  if (name == "avx512")
    return isa::avx512;
  if (name == "neon")
    return isa::neon;
  return fail(errc::invalid_argument,
              "TROUPE_MAX_ISA: expected scalar, sse4, avx2, avx512 or neon, found '{}'", name);
}

// Highway numbers its targets so that a better one of the same architecture has a lower bit.
constexpr std::int64_t better_than(std::int64_t target) {
  return target - 1;
}

} // namespace

result<std::optional<isa>> isa_cap() {
  static const auto cap = read_cap();
  return cap;
}

result<void> apply_isa_cap() {
  static const auto applied = []() -> result<void> {
    const auto cap = isa_cap();
    if (!cap)
      return propagate(cap);
    if (*cap) {
      std::int64_t best = 0;
      switch (**cap) {
        case isa::scalar: best = HWY_EMU128; break;
        case isa::sse4: best = HWY_SSE4; break;
        case isa::avx2: best = HWY_AVX2; break;
        case isa::avx512: best = HWY_AVX3_DL; break;
        case isa::neon: best = HWY_NEON; break;
      }
      hwy::DisableTargets(better_than(best));
    }
    return {};
  }();
  return applied;
}

std::string processor_model() {
  std::string model;
  std::ifstream processors{"/proc/cpuinfo"};
  for (std::string line; std::getline(processors, line) && !line.empty();) {
    const auto split = line.find(':');
    const auto name = line.substr(0, line.find_last_not_of(" \t", split - 1) + 1);
    constexpr std::array telling{"model name",      "cpu family", "model",      "stepping",
                                 "CPU implementer", "CPU part",   "CPU variant"};
    if (split != std::string::npos && std::ranges::find(telling, name) != telling.end())
      model += (model.empty() ? "" : ",") + line.substr(std::min(split + 1, line.size()));
  }
  const char* cap = std::getenv("TROUPE_MAX_ISA"); // NOLINT(concurrency-mt-unsafe): never written
  return cap != nullptr && *cap != '\0' ? model + ", at most " + cap : model;
}

} // namespace troupe::cpu
