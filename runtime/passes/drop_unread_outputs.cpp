// Outputs that an operator may leave out and nobody reads: exporters name them all. Without them a
// Dropout is nothing, a MaxPool needs no indices, and kernels need not refuse what is of no use.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/rewriter.hpp"

#include <algorithm>
#include <array>

namespace troupe::passes {

namespace {

// Operators of any domain whose outputs behind the first are all optional.
constexpr std::array<std::string_view, 14> with_optional_outputs{
    "Attention",
    "BatchNormalization",
    "Dropout",
    "EmbedLayerNormalization",
    "GRU",
    "LSTM",
    "LayerNormalization",
    "MaxPool",
    "MultiHeadAttention",
    "RNN",
    "SimplifiedLayerNormalization",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "SoftmaxCrossEntropyLoss",
};

} // namespace

result<std::size_t> drop_unread_outputs(graph::graph& on, const pass_context&) {
  const rewriter readers{on};
  std::size_t dropped = 0;
  for (auto& of : on.nodes) {
    if (of.removed
        || std::ranges::find(with_optional_outputs, of.op_type) == with_optional_outputs.end())
      continue;
    for (std::size_t index = 1; index < of.outputs.size(); ++index) {
      auto& output = of.outputs[index];
      if (output == no_value || readers.uses(output) > 0)
        continue;
      on.values[output].producer = no_node;
      output = no_value;
      ++dropped;
    }
    while (of.outputs.size() > 1 && of.outputs.back() == no_value)
      of.outputs.pop_back();
  }
  return dropped;
}

} // namespace troupe::passes
