#include "runtime/batching/padding.hpp"

#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace troupe::batching {

namespace {

constexpr std::int64_t largest_power = std::int64_t{1} << 62;

shape strides_of(const shape& dims) {
  shape strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

void fill(std::byte* to, std::size_t elements, dtype type, double value) {
  const auto width = size_of(type);
  if (elements == 0)
    return;
  std::memset(to, 0, elements * width);
  if (value == 0)
    return;
  cpu::numbers_to({to, {type, {1}}}).set(0, value);
  for (std::size_t i = 1; i < elements; ++i)
    std::memcpy(to + i * width, to, width);
}

} // namespace

std::int64_t padded_length::bucket(std::int64_t length) const noexcept {
  if (lengths.empty())
    return length < 1 || length > largest_power
               ? length
               : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), length);
  return at == lengths.end() ? length : *at;
}

tensor filled(dtype type, const shape& dims, double value) {
  const auto elements = static_cast<std::size_t>(element_count(dims));
  const auto bytes = elements * size_of(type);
  auto block = allocate_aligned(std::max<std::size_t>(bytes, 1));
  fill(block.get(), elements, type, value);
  const auto* data = block.get();
  return {type, dims, {std::move(block), {data, bytes}}};
}

tensor resized(const tensor& from, const shape& dims, double value) {
  const auto elements = static_cast<std::size_t>(element_count(dims));
  const auto bytes = elements * size_of(from.type);
  auto block = allocate_aligned(std::max<std::size_t>(bytes, 1));
  cpu::strided_box box{dims, strides_of(from.dims), strides_of(dims), size_of(from.type)};
  bool grows = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    box.dims[axis] = std::min(dims[axis], from.dims[axis]);
    grows = grows || dims[axis] > from.dims[axis];
  }
  if (grows)
    fill(block.get(), elements, from.type, value);
  if (element_count(box.dims) > 0)
    cpu::simplified(box).copy(from.data.data(), block.get());
  const auto* data = block.get();
  return {from.type, dims, {std::move(block), {data, bytes}}};
}

tensor rows_of(const tensor& whole, std::int64_t first, std::int64_t count) {
  tensor part{whole.type, whole.dims, {whole.data.owner, {}}};
  const auto row_bytes = whole.dims[0] > 0
                             ? whole.data.size() / static_cast<std::size_t>(whole.dims[0])
                             : std::size_t{0};
  part.dims[0] = count;
  part.data.view = whole.data.view.subspan(static_cast<std::size_t>(first) * row_bytes,
                                           static_cast<std::size_t>(count) * row_bytes);
  return part;
}

} // namespace troupe::batching
