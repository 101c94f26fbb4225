#pragma once

// What value kernels share: their inputs by type, and tensors made from elements.

#include "kernels/cpu/value_kernel.hpp"

#include <optional>
#include <string>

namespace troupe::cpu {

/// The input as a tensor or a sequence; invalid_argument when it is left out or something else.
[[nodiscard]] result<const tensor*> tensor_in(const value_call& of, std::size_t input);
[[nodiscard]] result<const tensor_sequence*> sequence_in(const value_call& of, std::size_t input);

/// An INT64 or INT32 input of one element.
[[nodiscard]] result<std::int64_t> integer_in(const value_call& of, std::size_t input);
/// All elements of an INT64 or INT32 tensor.
[[nodiscard]] result<std::vector<std::int64_t>> integers_in(const tensor& from);

/// `axis` counted from the front; invalid_argument unless it is in [-rank, rank).
[[nodiscard]] result<std::size_t> axis_in(std::int64_t axis, std::size_t rank);

/// A row-major tensor that owns a copy of `elements`, of which there are as many as `dims` says.
template <class T>
[[nodiscard]] tensor make_tensor(dtype type, std::span<const std::int64_t> dims,
                                 std::span<const T> elements) {
  return {type, {dims.begin(), dims.end()}, copy_of(std::as_bytes(elements))};
}
[[nodiscard]] tensor make_integers(std::span<const std::int64_t> dims,
                                   std::span<const std::int64_t> elements);
[[nodiscard]] tensor make_scalar(std::int64_t number);
[[nodiscard]] tensor make_boolean(bool answer);

/// The elements of a tensor as runs of bytes: neighbours lie next to each other, in strings too.
/// Valid as long as the tensor's data.
class element_runs {
public:
  /// invalid_argument when packed strings are malformed.
  [[nodiscard]] static result<element_runs> of(const tensor& from);

  [[nodiscard]] std::span<const std::byte> run(std::int64_t first, std::int64_t count) const;

private:
  std::span<const std::byte> data_;
  std::size_t element_bytes_ = 0;    // 0: strings
  std::vector<std::size_t> offsets_; // of strings, and behind the last
};

/// A tensor of these runs, one behind the other; together they are the elements that `dims` needs.
[[nodiscard]] tensor join_runs(dtype type, std::span<const std::int64_t> dims,
                               std::span<const std::span<const std::byte>> runs);

} // namespace troupe::cpu
