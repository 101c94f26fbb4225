#pragma once

#include "kernels/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::cpu {

/// Instruction sets that TROUPE_MAX_ISA may name, weakest first within an architecture.
enum class isa : std::uint8_t {
  scalar, ///< no vector instructions of our own
  sse4,
  avx2,
  avx512,
  neon,
};

/// What the environment variable TROUPE_MAX_ISA asks for; empty when it is unset. Read once per
/// process. invalid_argument lists the names.
[[nodiscard]] result<std::optional<isa>> isa_cap();

/// Caps the dispatch of our own vector code at `isa_cap`. Idempotent; called before the first
/// kernel is made.
[[nodiscard]] result<void> apply_isa_cap();

/// Which processor this is, as /proc/cpuinfo tells its make and model, and the cap.
[[nodiscard]] std::string processor_model();

} // namespace troupe::cpu
