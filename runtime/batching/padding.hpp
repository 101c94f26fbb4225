#pragma once

// Requests of different lengths (tokens of a text, columns of an image) run together where they are
// padded to the same one. Which axes may be padded only the model's author knows: what was padded
// must not change what is kept.

#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace troupe::batching {

/// One length that a request's tensors share, and the lengths for which batches are formed.
struct padded_length {
  struct input_axis {
    std::size_t input = 0; ///< in the order of the signature
    std::size_t axis = 0;  ///< the batch axis included where the model batches
  };
  struct output_axis {
    std::size_t output = 0;
    std::size_t axis = 0;
    std::int64_t divisor = 1; ///< the output has the length divided by this, rounded up
  };

  std::string name;
  std::vector<input_axis> inputs;    ///< padded; at least one
  std::vector<output_axis> outputs;  ///< cut back
  std::vector<std::int64_t> lengths; ///< ascending; empty: powers of two
  std::optional<std::size_t> mask;   ///< input that says 1 of what is real, 0 of what is padded

  /// What a length is padded to; one beyond the largest stays as it is.
  [[nodiscard]] std::int64_t bucket(std::int64_t length) const noexcept;
};

/// All that is padded of a model.
struct padding {
  std::vector<padded_length> lengths;
  std::vector<double> values; ///< by input: what it is padded with; none: zeros

  [[nodiscard]] bool empty() const noexcept { return lengths.empty(); }
  [[nodiscard]] double value_of(std::size_t input) const noexcept {
    return input < values.size() ? values[input] : 0.0;
  }
};

/// A tensor full of `value`, rounded and saturated to the type. Not BYTES. Throws std::bad_alloc.
[[nodiscard]] tensor filled(dtype type, const shape& dims, double value);

/// A tensor of `dims`, of the same rank: what both have is copied, the rest is `value`, likewise.
/// Not for BYTES. Throws std::bad_alloc.
[[nodiscard]] tensor resized(const tensor& from, const shape& dims, double value);

/// `count` rows of axis 0 from `first` on, in the same memory.
[[nodiscard]] tensor rows_of(const tensor& whole, std::int64_t first, std::int64_t count);

} // namespace troupe::batching
