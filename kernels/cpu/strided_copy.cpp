#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace troupe::cpu {

namespace {

template <class T>
void copy_row(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t from_stride,
              std::int64_t to_stride) {
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  if (from_stride == 1 && to_stride == 1)
    std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(T));
  else
    for (std::int64_t i = 0; i < count; ++i)
      target[i * to_stride] = source[i * from_stride];
}

using row_function = void (*)(const std::byte*, std::byte*, std::int64_t, std::int64_t,
                              std::int64_t);

row_function row_function_for(std::size_t bytes) {
  switch (bytes) {
    case 1: return copy_row<std::uint8_t>;
    case 2: return copy_row<std::uint16_t>;
    case 4: return copy_row<std::uint32_t>;
    default: return copy_row<std::uint64_t>;
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
  const auto row = row_function_for(element_bytes);
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::size_t loops = dims.size() - 1;
  const auto inner = dims[loops];
  shape at(loops, 0);
  while (true) {
    row(from, to, inner, from_strides[loops], to_strides[loops]);
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
