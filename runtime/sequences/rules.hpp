#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::sequences {

/// An input that tells the model where in its sequence a row stands.
struct control {
  enum class kind : std::uint8_t { start, ready, end };
  kind of = kind::start;
  std::size_t input = 0; ///< among the model's
  tensor no;             ///< one row each
  tensor yes;
};

/// The input that carries the id, as an integer.
struct id_input {
  std::size_t input = 0;
  dtype type = dtype::int64;
  shape dims; ///< of one row
};

/// An output that is an input of the sequence's next step.
struct state {
  std::size_t input = 0;
  std::size_t output = 0;
  tensor initial;         ///< one row
  std::size_t offset = 0; ///< in the sequence's block
};

/// How a stateful model's requests belong together. Immutable.
struct rules {
  duration max_idle = std::chrono::seconds{1}; ///< a sequence without steps ends after this
  std::size_t slots = 1; ///< sequences under way on a placement, for each batch it holds at once
  std::vector<control> controls;
  std::optional<id_input> id;
  std::vector<state> states;
  std::size_t state_bytes = 0; ///< of one sequence's block; 0: it has none
};

} // namespace troupe::sequences
