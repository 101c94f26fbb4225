#include "runtime/graph/element.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe::graph {

namespace {

template <class T>
void read(const tensor& from, std::vector<std::int64_t>& to) {
  for (auto number : elements_of<T>(from.data))
    to.push_back(static_cast<std::int64_t>(number));
}

// Numbers of the types that shape computations use.
bool read_integers(const tensor& from, std::vector<std::int64_t>& to) {
  switch (from.type) {
    case dtype::int64: read<std::int64_t>(from, to); return true;
    case dtype::int32: read<std::int32_t>(from, to); return true;
    case dtype::boolean: read<std::uint8_t>(from, to); return true;
    default: return false;
  }
}

template <class T>
std::shared_ptr<const tensor> write(dtype type, std::span<const std::int64_t> dims,
                                    std::span<const element> elements) {
  std::vector<T> numbers;
  for (const auto& next : elements) {
    if (!next.is_number() || !std::in_range<T>(next.number()))
      return nullptr;
    numbers.push_back(static_cast<T>(next.number()));
  }
  auto made = std::make_shared<tensor>();
  made->type = type;
  made->dims.assign(dims.begin(), dims.end());
  made->data = copy_of(std::as_bytes(std::span<const T>{numbers}));
  return made;
}

} // namespace

std::vector<element> elements_of_constant(const tensor& content) {
  std::vector<std::int64_t> numbers;
  if (content.dims.size() > 1 || element_count(content.dims) > max_tracked_elements
      || !read_integers(content, numbers))
    return {};
  return {numbers.begin(), numbers.end()};
}

std::shared_ptr<const tensor> constant_of_elements(dtype type, std::span<const std::int64_t> dims,
                                                   std::span<const element> elements) {
  switch (type) {
    case dtype::int64: return write<std::int64_t>(type, dims, elements);
    case dtype::int32: return write<std::int32_t>(type, dims, elements);
    case dtype::boolean: return write<std::uint8_t>(type, dims, elements);
    default: return nullptr;
  }
}

std::optional<std::vector<std::int64_t>> integers_of(const tensor& content) {
  std::vector<std::int64_t> numbers;
  if (content.type == dtype::boolean || !read_integers(content, numbers))
    return std::nullopt;
  return numbers;
}

} // namespace troupe::graph
