#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace troupe::cpu {

namespace {

struct plane_loops {
  std::int64_t rows, columns;
  std::int64_t from_row, from_column;
  std::int64_t to_row, to_column;
};

template <class T>
void copy_plane(const std::byte* from, std::byte* to, const plane_loops& by) {
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  const bool contiguous = by.from_column == 1 && by.to_column == 1;
  const auto bytes = static_cast<std::size_t>(by.columns) * sizeof(T);
  for (std::int64_t row = 0; row < by.rows; ++row, source += by.from_row, target += by.to_row) {
    if (contiguous)
      std::memcpy(target, source, bytes);
    else
      for (std::int64_t i = 0; i < by.columns; ++i)
        target[i * by.to_column] = source[i * by.from_column];
  }
}

using plane_function = void (*)(const std::byte*, std::byte*, const plane_loops&);

plane_function plane_function_for(std::size_t bytes) {
  switch (bytes) {
    case 1: return copy_plane<std::uint8_t>;
    case 2: return copy_plane<std::uint16_t>;
    case 4: return copy_plane<std::uint32_t>;
    default: return copy_plane<std::uint64_t>;
  }
}

} // namespace

strided_box simplified(const strided_box& box) {
  std::vector<std::size_t> order(box.dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return box.to_strides[a] > box.to_strides[b]; });
  strided_box simple;
  simple.element_bytes = box.element_bytes;
  for (const auto axis : order) {
    const auto size = box.dims[axis];
    if (size == 1)
      continue;
    const bool merges = !simple.dims.empty()
                        && simple.from_strides.back() == box.from_strides[axis] * size
                        && simple.to_strides.back() == box.to_strides[axis] * size;
    if (merges) {
      simple.dims.back() *= size;
      simple.from_strides.back() = box.from_strides[axis];
      simple.to_strides.back() = box.to_strides[axis];
    } else {
      simple.dims.push_back(size);
      simple.from_strides.push_back(box.from_strides[axis]);
      simple.to_strides.push_back(box.to_strides[axis]);
    }
  }
  if (simple.dims.empty()) {
    simple.dims.push_back(1);
    simple.from_strides.push_back(1);
    simple.to_strides.push_back(1);
  }
  return simple;
}

void strided_box::copy(const std::byte* from, std::byte* to) const {
  if (element_count(dims) == 0)
    return;
  const auto plane = plane_function_for(element_bytes);
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  // The two innermost loops are one call; the others count like an odometer.
  const std::size_t inner = dims.size() - 1;
  const std::size_t loops = inner > 0 ? inner - 1 : 0;
  const plane_loops last{inner > 0 ? dims[loops] : 1,         dims[inner],
                         inner > 0 ? from_strides[loops] : 0, from_strides[inner],
                         inner > 0 ? to_strides[loops] : 0,   to_strides[inner]};
  shape at(loops, 0);
  while (true) {
    plane(from, to, last);
    std::size_t loop = loops;
    while (loop > 0) {
      --loop;
      from += from_strides[loop] * bytes;
      to += to_strides[loop] * bytes;
      if (++at[loop] < dims[loop])
        break;
      from -= from_strides[loop] * dims[loop] * bytes;
      to -= to_strides[loop] * dims[loop] * bytes;
      at[loop] = 0;
      if (loop == 0)
        return;
    }
    if (loops == 0)
      return;
  }
}

} // namespace troupe::cpu
