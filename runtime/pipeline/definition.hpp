#pragma once

// A pipeline as it is declared: steps that exchange named tensors. Nothing in here has been checked
// against models; that is `compile`.

#include "kernels/tensor/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::pipeline {

/// What one number is compared with; of a BOOL, that it is true.
enum class comparison : std::uint8_t { is_true, equal, less, greater, at_most, at_least };

/// Whether a step runs, by a tensor of one element.
struct condition {
  std::string tensor;
  comparison how = comparison::is_true;
  double number = 0;
  bool wanted = true; ///< false: the step runs where it does not hold
};

/// What a model calls a tensor, and what the pipeline calls it.
struct connection {
  std::string port;
  std::string tensor;
};

/// One call of a model or stage, or one a row.
struct step_definition {
  std::string name;
  std::string model;
  std::string version; ///< a number or a label; empty: the server's choice
  std::vector<connection> inputs;
  std::vector<connection> outputs;
  std::vector<std::string> each_row_of; ///< tensors cut along axis 0; empty: one call
  std::int64_t rows = 1;                ///< of one call, where rows are cut
  std::string row_counts;               ///< INT64 tensor: rows that each call gave; empty: none
  std::optional<condition> when;
  /// What stands for an output where the step does not run: another tensor of the pipeline.
  std::map<std::string, std::string> otherwise;
};

/// A tensor that clients bring or get.
struct border_tensor {
  std::string name;
  std::string tensor;                              ///< what the pipeline calls it
  std::optional<dtype> type;                       ///< none: inferred, likewise dims
  std::optional<std::vector<std::int64_t>> dims{}; ///< -1 is free
  bool optional = false;
};

struct definition {
  std::string origin;                ///< the file, for errors
  std::string platform = "pipeline"; ///< as clients see it
  std::vector<border_tensor> inputs;
  std::vector<border_tensor> outputs;
  std::vector<step_definition> steps;
  std::map<std::string, std::filesystem::path> models; ///< that come with the pipeline
  std::size_t max_active = 256;                        ///< requests worked on at once; others wait
  std::size_t max_in_flight = 16;  ///< calls of one request on their way at once
  std::int64_t max_fan_out = 4096; ///< calls of one step
  bool allow_unused = false;       ///< tensors that nobody takes are no mistake
};

} // namespace troupe::pipeline
