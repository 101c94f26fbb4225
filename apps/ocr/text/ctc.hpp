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

struct reading_options {
  /// A space is put between two characters if it had at least this probability at a step in
  /// between, though another class was likelier. The recogniser was trained on Chinese, where words
  /// have no spaces between them, and rarely makes a space the likeliest; 0.01 finds most and
  /// invents few. Above 1 none is added.
  float min_space = 0.01f;
};

/// Best-path decoding of connectionist temporal classification (Graves et al., 2006): the likeliest
/// class of each step, repeats merged, blanks dropped. `probabilities` are rows of
/// `symbols.classes()` values, one a step. Spaces at either end are dropped.
[[nodiscard]] reading decode_steps(std::span<const float> probabilities, const alphabet& symbols,
                                   const reading_options& options = {});

/// Each row of a recogniser's output, float32 [rows, steps, classes]; failed_precondition if it has
/// another form or another number of classes.
[[nodiscard]] result<std::vector<reading>>
decode_rows(const tensor& output, const alphabet& symbols, const reading_options& options = {});

} // namespace troupe::ocr
