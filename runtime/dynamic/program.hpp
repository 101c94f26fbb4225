#pragma once

// A graph in which not everything can be planned beforehand: values without a fixed size, strings,
// sequences, subgraphs. It is cut into regions, which planned kernels run, and single nodes, which
// make their own outputs; what flows between them owns its memory and goes as soon as nobody needs
// it any more.

#include "runtime/dynamic/context.hpp"
#include "runtime/dynamic/region.hpp"

#include <memory>
#include <span>
#include <vector>

namespace troupe::dynamic {

/// Whether the graph needs a program; otherwise a plan runs it. A shape that depends on data counts
/// where it is found without sizes; what is not found shows when a plan is made.
[[nodiscard]] bool needs_program(const graph::graph& of);

/// Immutable but for the plans it keeps; any number of threads run it at the same time.
class program {
public:
  /// unimplemented on a device whose memory the host cannot read.
  [[nodiscard]] static result<std::shared_ptr<const program>> make(graph::graph of,
                                                                   const tools& with);

  /// One value for each input of the graph; one comes back for each output. invalid_argument when
  /// an input does not fit what the graph declares, cancelled when `with` says so,
  /// resource_exhausted when memory is not there. Blocks; inside the stream's `issue`.
  [[nodiscard]] result<std::vector<datum>> run(std::vector<datum> inputs,
                                               const run_context& with) const;

  [[nodiscard]] const graph::graph& of() const noexcept { return graph_; }

  /// What people see of how the graph is cut.
  struct summary {
    std::size_t regions = 0;
    std::size_t planned = 0; ///< nodes in regions
    std::size_t alone = 0;   ///< nodes that make their own outputs
    std::size_t control = 0; ///< nodes with subgraphs
  };
  [[nodiscard]] summary describe() const;

private:
  struct step {
    std::unique_ptr<region> planned; ///< or a node:
    graph::node_id node = graph::no_node;
    std::vector<std::shared_ptr<const program>> bodies;
    std::vector<graph::value_id> last_read; ///< values that nobody needs after this step
  };

  program(graph::graph of, const tools& with) : graph_{std::move(of)}, with_{with} {}
  result<void> cut();
  void find_last_reads();
  result<void> check_inputs(std::span<const datum> inputs) const;
  result<void> run_step(const step& next, std::vector<datum>& frame, const run_context& with) const;
  [[nodiscard]] datum read(graph::value_id id, const std::vector<datum>& frame) const;

  graph::graph graph_;
  tools with_;
  std::vector<step> steps_;
};

} // namespace troupe::dynamic
