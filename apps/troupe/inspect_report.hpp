#pragma once

#include "runtime/exec/model.hpp"
#include "runtime/plan/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace troupe::cli {

/// A tensor in the arena of a plan, with the steps between which it lives.
struct arena_block {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  bool workspace = false;
};

/// What lies in a plan's arena, in the order of the first step.
[[nodiscard]] std::vector<arena_block> arena_blocks(const plan::plan& of);

/// The model as people and as programs read it; `plan` may be null.
[[nodiscard]] nlohmann::json inspect_json(const exec::model& model, const plan::plan* plan);
[[nodiscard]] std::string inspect_text(const exec::model& model, const plan::plan* plan);

/// A drawing of the plan's memory: steps from left to right, the arena from bottom to top.
[[nodiscard]] std::string memory_svg(const std::string& title, const plan::plan& of);

} // namespace troupe::cli
