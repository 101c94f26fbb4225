#include "runtime/graph/infer/inference.hpp"

#include <array>

namespace troupe::graph {

namespace {

// https://onnx.ai/onnx/operators/onnx__LSTM.html and its siblings. With layout 1 (since opset 14)
// the batch comes first everywhere.
result<void> infer_recurrent(inference& at) {
  for (std::size_t input = 0; input < 3; ++input)
    if (auto good = at.expect_rank(input, 3); !good)
      return good;
  for (std::size_t input : {1U, 2U, 3U})
    if (auto good = at.same_type(input); !good)
      return good;
  const auto* x = at.dims(0);
  const auto direction = at.attributes().text("direction", "forward");
  const dim directions = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = at.attributes().integer("layout", 0) != 0;
  dim hidden = at.symbols().fresh_dim();
  if (const auto* r = at.dims(2); r != nullptr) {
    hidden = (*r)[2];
    if (auto good = at.expect_size(2, 0, directions); !good)
      return good;
  } else if (at.attributes().has("hidden_size")) {
    hidden = at.attributes().integer("hidden_size", 1);
  }
  if (x == nullptr) {
    at.set(0, at.type(0), at.unknown(4));
    at.set(1, at.type(0), at.unknown(3));
    at.set(2, at.type(0), at.unknown(3));
    return {};
  }
  if (const auto* w = at.dims(1); w != nullptr)
    if (auto good = at.expect_size(1, 2, (*x)[2]); !good)
      return good;
  const dim steps = (*x)[batch_first ? 1 : 0];
  const dim batch = (*x)[batch_first ? 0 : 1];
  at.set(0, at.type(0),
         batch_first ? symbolic_shape{batch, steps, directions, hidden}
                     : symbolic_shape{steps, directions, batch, hidden});
  const auto state = batch_first ? symbolic_shape{batch, directions, hidden}
                                 : symbolic_shape{directions, batch, hidden};
  at.set(1, at.type(0), state);
  at.set(2, at.type(0), state);
  return {};
}

constexpr std::array rules{
    infer_entry{"GRU", 3, 6, 2, infer_recurrent},
    infer_entry{"LSTM", 3, 8, 3, infer_recurrent},
    infer_entry{"RNN", 3, 6, 2, infer_recurrent},
};

} // namespace

std::span<const infer_entry> recurrent_rules() {
  return rules;
}

} // namespace troupe::graph
