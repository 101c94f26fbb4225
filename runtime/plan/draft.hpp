#pragma once

#include "kernels/device/device.hpp"
#include "runtime/plan/shapes.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace troupe::plan {

using storage_id = std::uint32_t;
inline constexpr storage_id no_storage = ~storage_id{0};

/// Memory that one or several names of one tensor share while a plan is made.
struct storage {
  enum class kind : std::uint8_t { input, constant, produced };
  kind from = kind::produced;
  std::uint32_t index = 0; ///< of the model input or of the draft's constants
  std::size_t bytes = 0;
  std::uint32_t output = none; ///< the model output whose memory this is to be, or `none`

  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

/// A tensor as a step sees it: some storage, under a type, dims and a layout.
struct draft_argument {
  storage_id at = no_storage;
  tensor_desc desc;
};

/// A step whose memory is not decided yet. `of` is null for what the planner adds itself.
struct draft_step {
  const graph::node* of = nullptr;
  std::string domain;
  std::string op_type;
  std::vector<draft_argument> inputs;
  std::vector<draft_argument> outputs;
  kernel_choice choice;
  std::optional<double> flops{};
};

/// A graph lowered to steps with layouts, in the order in which they run.
struct draft {
  std::vector<storage> storages;
  std::vector<draft_step> steps;
  std::vector<std::shared_ptr<const tensor>> constants;
  std::vector<tensor_desc> outputs; ///< of the model
  std::size_t views = 0;            ///< nodes that only rename memory
  std::size_t known = 0;            ///< nodes whose result is known before any data
};

/// Lowers the nodes that run. Layouts follow the device's rules; a Reorder (domain "troupe") stands
/// where a reader needs another layout than the tensor has, once per tensor and layout. Every
/// storage that is a model output is row-major; an output that cannot be written in place (an
/// input, a constant, or one asked for twice) gets an Identity of its own.
[[nodiscard]] draft lower(const graph::graph& of, const known_values& values, const device& on,
                          int threads);

} // namespace troupe::plan
