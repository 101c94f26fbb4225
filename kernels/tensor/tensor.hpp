#pragma once

#include "kernels/tensor/dtype.hpp"
#include "kernels/tensor/shape.hpp"
#include "kernels/tensor/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe {

/// How the axes of a rank-4 (or rank-3) activation lie in memory. `row_major` is what every tensor
/// at the border of a model has; the others exist only between kernels that agreed on them.
enum class layout : std::uint8_t {
  row_major,     ///< as the axes are written: N, C, H, W
  channels_last, ///< axis 1 innermost: N, H, W, C
  blocked8,      ///< channels in padded groups of 8: N, C/8, H, W, 8
  blocked16,     ///< channels in padded groups of 16
};

/// Type, sizes and placement of a tensor, without its data.
struct tensor_desc {
  dtype type = dtype::float32;
  shape dims;
  layout format = layout::row_major;

  [[nodiscard]] std::int64_t elements() const noexcept { return element_count(dims); }
  /// Bytes in memory, channel padding of blocked layouts included.
  [[nodiscard]] std::size_t bytes() const noexcept;

  friend bool operator==(const tensor_desc&, const tensor_desc&) = default;
};

/// A tensor somewhere in memory that somebody else owns.
struct tensor_view {
  std::byte* data = nullptr;
  tensor_desc desc;

  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return reinterpret_cast<T*>(data);
  }
};

/// A tensor that shares the ownership of its read-only data, row-major. For `string` the bytes are
/// in KServe's form: each element a 4-byte little-endian length, then its bytes.
struct tensor {
  dtype type = dtype::float32;
  shape dims;
  shared_bytes data;
};

} // namespace troupe
