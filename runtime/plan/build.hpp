#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/plan/plan.hpp"

#include <memory>
#include <span>

namespace troupe::plan {

class tuning;

struct build_options {
  device* host = nullptr;  ///< computes what is known before any data; null: the device of the plan
  tuning* tuned = nullptr; ///< measures candidates and chooses; null: the order of the table
};

/// Makes a plan of an optimised graph for concrete input dims, in the order of the graph's inputs.
/// Deterministic: the same arguments give the same steps on the same memory. Takes milliseconds;
/// may run on several threads at once. Weights are packed into `weights`, where later plans find
/// them. The plan keeps what it needs of the graph's constants; the graph itself may go.
/// invalid_argument for dims that do not fit (naming input or node), unimplemented where no kernel
/// takes a node or a shape depends on data.
[[nodiscard]] result<std::shared_ptr<const plan>> build(const graph::graph& of,
                                                        std::span<const shape> inputs, device& on,
                                                        weight_cache& weights,
                                                        const build_options& options = {});

} // namespace troupe::plan
