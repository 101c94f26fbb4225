#pragma once

#include "runtime/plan/draft.hpp"
#include "runtime/plan/plan.hpp"

#include <cstddef>
#include <vector>

namespace troupe::plan {

/// Where everything lies that a draft's steps read and write.
struct assignment {
  std::vector<location> storages;   ///< by storage
  std::vector<location> workspaces; ///< by step; absent where the kernel needs none
  std::size_t arena_bytes = 0;
  std::size_t live_bound_bytes = 0;
  std::size_t in_place = 0; ///< steps that write over an input
};

/// Decides the memory of a draft whose kernels are chosen. A tensor lives from the step that writes
/// it to the last that reads it; a step's first output takes the memory of an input that dies there
/// if the kernel allows it; model outputs, and what is written over on the way to them, lie in the
/// caller's memory; the rest is packed into one arena.
[[nodiscard]] assignment assign_memory(const draft& of);

} // namespace troupe::plan
