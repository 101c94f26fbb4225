#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/tensor_reader.hpp"

#include <cstring>

namespace troupe::onnx {

namespace {

// Where each value lies in the dense tensor: positions in row-major order, or one index an axis.
result<std::vector<std::int64_t>> positions(const tensor& indices, std::int64_t count,
                                            const shape& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const bool linear = indices.dims == shape{count};
  if (indices.type != dtype::int64 || (!linear && indices.dims != shape{count, rank}))
    return fail(errc::invalid_argument, "INT64 indices [{0}] or [{0},{1}] expected, {2} {3} found",
                count, rank, to_string(indices.type), to_string(indices.dims));
  const auto written = elements_of<std::int64_t>(indices.data);
  const auto total = element_count(dims);
  if (total == 0 && count > 0)
    return fail(errc::invalid_argument, "no values expected in {}, {} found", to_string(dims),
                count);
  std::vector<std::int64_t> made;
  for (std::int64_t value = 0; value < count; ++value) {
    std::int64_t position = linear ? written[static_cast<std::size_t>(value)] : 0;
    for (std::int64_t axis = 0; !linear && axis < rank; ++axis) {
      const auto index = written[static_cast<std::size_t>(value * rank + axis)];
      const auto size = dims[static_cast<std::size_t>(axis)];
      if (index < 0 || index >= size)
        return fail(errc::invalid_argument, "an index in [0, {}) expected, {} found", size, index);
      position = position * size + index;
    }
    if (position < (made.empty() ? 0 : made.back() + 1) || position >= total)
      return fail(errc::invalid_argument,
                  "indices of {} elements in ascending order expected, {} found behind {}", total,
                  position, made.empty() ? -1 : made.back());
    made.push_back(position);
  }
  return made;
}

} // namespace

result<std::shared_ptr<const tensor>> tensor_reader::read_sparse(const SparseTensorProto& from) {
  const auto named = [&](const error& why) {
    return fail(why.code, "sparse tensor '{}': {}", from.values().name(), why.text);
  };
  const auto values = read(from.values());
  if (!values)
    return propagate(values);
  const auto indices = read(from.indices());
  if (!indices)
    return propagate(indices);
  const auto type = (*values)->type;
  if (type == dtype::string || (*values)->dims.size() != 1)
    return named({errc::invalid_argument, "numbers of one axis expected as its values"});
  const shape dims(from.dims().begin(), from.dims().end());
  const auto count = checked_element_count(dims);
  if (!count)
    return named(count.error());
  const auto bytes = static_cast<std::uint64_t>(*count) * size_of(type);
  if (bytes > most_dense_bytes - dense_bytes_)
    return named({errc::resource_exhausted,
                  fmt::format("a model's sparse tensors may have {} bytes as dense ones: {} asks "
                              "for {} more than {}",
                              most_dense_bytes, to_string(dims), bytes, dense_bytes_)});
  const auto at = positions(**indices, (*values)->dims.front(), dims);
  if (!at)
    return named(at.error());
  dense_bytes_ += bytes;
  auto block = allocate_aligned(bytes);
  std::memset(block.get(), 0, bytes);
  const auto* stored = (*values)->data.data();
  for (std::size_t value = 0; value < at->size(); ++value)
    std::memcpy(block.get() + static_cast<std::size_t>((*at)[value]) * size_of(type),
                stored + value * size_of(type), size_of(type));
  const std::span<const std::byte> view{block.get(), bytes};
  return std::make_shared<const tensor>(tensor{type, dims, {std::move(block), view}});
}

} // namespace troupe::onnx
