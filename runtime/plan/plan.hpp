#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::plan {

/// Where a tensor of a plan lies while it runs.
enum class place : std::uint8_t {
  absent,   ///< an optional input left out, an output nobody reads
  input,    ///< the caller's memory: `index` is the model input
  output,   ///< the caller's memory: `index` is the model output
  constant, ///< shared with every plan: `index` into `plan::constants`
  arena,    ///< `offset` bytes into the block the run state is bound to
};

struct location {
  place where = place::absent;
  std::uint32_t index = 0;
  std::size_t offset = 0;
};

struct argument {
  location at;
  tensor_desc desc;
};

/// One kernel launch. `node` and `op_type` are for people: profile, inspect, errors.
struct step {
  std::shared_ptr<const kernel> run;
  std::vector<argument> inputs;
  std::vector<argument> outputs;
  location workspace; ///< arena, or absent
  std::size_t workspace_bytes = 0;
  std::string node;
  std::string op_type;
  std::vector<post_op> post_ops;
  std::vector<declined_candidate> declined;
  std::optional<double> flops{}; ///< what `flops_of` says of the operator
};

/// A model made ready for one set of input shapes on one device: which kernels run, in which order,
/// on which memory. Immutable and shared between threads; whoever runs it brings a run state of his
/// own.
class plan {
public:
  std::vector<tensor_desc> inputs;  ///< in the order of the model's signature
  std::vector<tensor_desc> outputs; ///< all row-major
  std::vector<step> steps;
  std::vector<std::shared_ptr<const tensor>> constants;
  std::size_t arena_bytes = 0; ///< the block a run needs
  std::size_t live_bound_bytes =
      0; ///< largest sum of tensors alive at one step: no plan needs less
  int threads = 1;
  std::size_t views = 0;    ///< nodes that only rename memory and are no steps
  std::size_t known = 0;    ///< nodes whose result was computed while planning
  std::size_t in_place = 0; ///< steps that write over an input that ends there
};

} // namespace troupe::plan
