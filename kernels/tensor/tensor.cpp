#include "kernels/tensor/tensor.hpp"

namespace troupe {

std::size_t tensor_desc::bytes() const noexcept {
  auto count = elements();
  const bool blocked = format == layout::blocked8 || format == layout::blocked16;
  if (blocked && dims.size() >= 2 && dims[1] > 0) {
    const std::int64_t block = format == layout::blocked8 ? 8 : 16;
    count = count / dims[1] * ((dims[1] + block - 1) / block * block);
  }
  return static_cast<std::size_t>(count) * size_of(type);
}

} // namespace troupe
