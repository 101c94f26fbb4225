#pragma once

#include "apps/ocr/text/alphabet.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace troupe::ocr {

struct reading {
  std::string text; ///< UTF-8
  float score = 0;  ///< mean probability of the characters kept; 0 without any
};

/// Best-path decoding of connectionist temporal classification (Graves et al., 2006): the likeliest
/// class of each step, repeats merged, blanks dropped. `probabilities` are rows of
/// `symbols.classes()` values, one a step.
[[nodiscard]] reading decode_steps(std::span<const float> probabilities, const alphabet& symbols);

/// Each row of a recogniser's output, float32 [rows, steps, classes]; failed_precondition if it has
/// another form or another number of classes.
[[nodiscard]] result<std::vector<reading>> decode_rows(const tensor& output,
                                                       const alphabet& symbols);

} // namespace troupe::ocr
