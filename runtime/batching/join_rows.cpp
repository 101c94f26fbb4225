#include "runtime/batching/join_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe::batching {

result<tensor> join_rows(std::span<const tensor* const> parts) {
  const auto& first = *parts.front();
  tensor whole{first.type, first.dims, {}};
  std::size_t bytes = 0;
  for (const auto* part : parts) {
    auto alike = part->dims;
    if (!alike.empty() && !whole.dims.empty())
      alike[0] = whole.dims[0];
    if (part->type != whole.type || part->dims.empty() || alike != whole.dims)
      return fail(errc::invalid_argument, "{} {} and {} {} do not join", to_string(first.type),
                  to_string(first.dims), to_string(part->type), to_string(part->dims));
    if (part != &first)
      whole.dims[0] += part->dims[0];
    bytes += part->data.size();
  }
  if (parts.size() == 1)
    return first;
  auto block = allocate_aligned(std::max<std::size_t>(bytes, 1));
  auto* to = block.get();
  for (const auto* part : parts) {
    if (part->data.size() > 0)
      std::memcpy(to, part->data.data(), part->data.size());
    to += part->data.size();
  }
  const auto* data = block.get();
  whole.data = {std::move(block), {data, bytes}};
  return whole;
}

} // namespace troupe::batching
