#include "kernels/tensor/shape.hpp"

namespace troupe {

std::int64_t element_count(std::span<const std::int64_t> dims) noexcept {
  std::int64_t count = 1;
  for (auto size : dims)
    count *= size;
  return count;
}

result<std::int64_t> checked_element_count(std::span<const std::int64_t> dims, std::int64_t limit) {
  std::int64_t count = 1;
  bool empty = false;
  for (auto size : dims) {
    if (size < 0)
      return fail(errc::invalid_argument, "shape {} has a negative size", to_string(dims));
    empty = empty || size == 0;
    if (size > 0 && __builtin_mul_overflow(count, size, &count))
      return fail(errc::invalid_argument, "shape {} has too many elements", to_string(dims));
  }
  if (empty)
    return 0;
  if (count > limit)
    return fail(errc::invalid_argument, "shape {} has {} elements: at most {} are accepted",
                to_string(dims), count, limit);
  return count;
}

std::string to_string(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    text += (axis == 0 ? "" : ",") + std::to_string(dims[axis]);
  return text + "]";
}

shape row_major_strides(std::span<const std::int64_t> dims) {
  shape strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

} // namespace troupe
