#pragma once

#include "kernels/tensor/tensor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One input or output of a model as a client sees it. A dim of -1 is free.
struct tensor_signature {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::int64_t> dims; ///< the batch axis included where the model batches
  std::vector<std::string>
      dim_names;                   ///< symbolic names, "" where there is none; same length as dims
  std::vector<std::string> labels; ///< of the last axis, from the repository's configuration
  bool optional = false;
  std::vector<std::byte> default_value; ///< one element, repeated to fill; empty = none declared
  bool any_rank = false; ///< not even the number of axes is known: `dims` says nothing
  bool sequence = false; ///< of tensors; no protocol carries it
  bool internal = false; ///< a control or state of sequences: the server's own, not the clients'
};

/// What a model takes and gives.
struct signature {
  std::vector<tensor_signature> inputs;
  std::vector<tensor_signature> outputs;
  /// Largest number of rows of one batch; 0: axis 0 is no batch axis and requests run one by one.
  std::int64_t max_batch_size = 0;
};

} // namespace troupe
