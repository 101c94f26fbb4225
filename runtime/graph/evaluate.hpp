#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/graph.hpp"

#include <memory>
#include <span>
#include <vector>

namespace troupe::graph {

using constant_ptr = std::shared_ptr<const tensor>;

/// Runs one node on constants: what constant folding does once, and the planner where a shape
/// depends on content. `inputs` are those of the node, post-op operands included, null where left
/// out; the result has one tensor per output, null where the node names none.
///
/// Blocks. Fails where inference or the device does, with the node's name; unimplemented on a
/// device whose memory the host cannot read and for strings.
[[nodiscard]] result<std::vector<constant_ptr>>
evaluate(const node& of, std::span<const constant_ptr> inputs, device& on);

} // namespace troupe::graph
