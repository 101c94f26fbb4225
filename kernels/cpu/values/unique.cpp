// ONNX: Unique-11. Without an axis the elements are one list; with one, its slices are compared.

#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

namespace troupe::cpu {

namespace {

/// Three-way order of two elements; NaN stands behind all numbers and equals itself.
template <class T>
int compare_numbers(T left, T right) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(left) || std::isnan(right))
      return static_cast<int>(std::isnan(left)) - static_cast<int>(std::isnan(right));
  return left < right ? -1 : static_cast<int>(right < left);
}

template <class T>
int compare_as(std::span<const std::byte> left, std::span<const std::byte> right) {
  for (std::size_t at = 0; at < left.size(); at += sizeof(T)) {
    T one{};
    T other{};
    std::memcpy(&one, left.data() + at, sizeof one);
    std::memcpy(&other, right.data() + at, sizeof other);
    int order = 0;
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      order = compare_numbers(static_cast<float>(one), static_cast<float>(other));
    else
      order = compare_numbers(one, other);
    if (order != 0)
      return order;
  }
  return 0;
}

/// Strings element by element, each behind its length.
int compare_strings(std::span<const std::byte> left, std::span<const std::byte> right) {
  while (!left.empty() && !right.empty()) {
    std::uint32_t lengths[2];
    std::memcpy(&lengths[0], left.data(), sizeof lengths[0]);
    std::memcpy(&lengths[1], right.data(), sizeof lengths[1]);
    const auto text = [](std::span<const std::byte> from, std::uint32_t length) {
      return std::string_view{reinterpret_cast<const char*>(from.data()) + sizeof length, length};
    };
    if (const int order = text(left, lengths[0]).compare(text(right, lengths[1])); order != 0)
      return order;
    left = left.subspan(sizeof lengths[0] + lengths[0]);
    right = right.subspan(sizeof lengths[1] + lengths[1]);
  }
  return static_cast<int>(left.size() > right.size())
         - static_cast<int>(left.size() < right.size());
}

using comparison = int (*)(std::span<const std::byte>, std::span<const std::byte>);

comparison comparison_of(dtype type) {
  switch (type) {
    case dtype::string: return compare_strings;
    case dtype::boolean: return compare_as<std::uint8_t>;
    case dtype::float16: return compare_as<half>;
    case dtype::bfloat16: return compare_as<bfloat16>;
    default: break;
  }
  comparison found = nullptr;
  visit_numeric(type, [&](auto tag) { found = compare_as<typename decltype(tag)::type>; });
  return found;
}

/// The slices along an axis, each as one run of bytes.
result<std::vector<std::vector<std::byte>>> slices_of(const tensor& from, std::size_t axis,
                                                      std::span<const std::int64_t> dims) {
  auto elements = element_runs::of(from);
  if (!elements)
    return propagate(elements);
  const auto rows = element_count(dims.first(axis));
  const auto width = element_count(dims.subspan(axis + 1));
  std::vector<std::vector<std::byte>> slices(static_cast<std::size_t>(dims[axis]));
  for (std::size_t at = 0; at < slices.size(); ++at)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto run =
          elements->run((row * dims[axis] + static_cast<std::int64_t>(at)) * width, width);
      slices[at].insert(slices[at].end(), run.begin(), run.end());
    }
  return slices;
}

struct groups {
  std::vector<std::int64_t> first;   ///< by group: where it occurs first
  std::vector<std::int64_t> count;   ///< by group
  std::vector<std::int64_t> inverse; ///< by slice: its group
};

groups group(std::span<const std::vector<std::byte>> slices, comparison compare, bool sorted) {
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
    return compare(slices[left], slices[right]) < 0;
  });
  groups made;
  made.inverse.resize(slices.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at == 0 || compare(slices[order[at - 1]], slices[order[at]]) != 0) {
      made.first.push_back(static_cast<std::int64_t>(order[at]));
      made.count.push_back(0);
    }
    made.inverse[order[at]] = static_cast<std::int64_t>(made.first.size()) - 1;
    ++made.count.back();
  }
  if (sorted)
    return made;
  std::vector<std::size_t> by_first(made.first.size());
  std::iota(by_first.begin(), by_first.end(), std::size_t{0});
  std::ranges::sort(by_first, {}, [&](std::size_t which) { return made.first[which]; });
  groups reordered;
  std::vector<std::int64_t> place(by_first.size());
  for (std::size_t at = 0; at < by_first.size(); ++at) {
    place[by_first[at]] = static_cast<std::int64_t>(at);
    reordered.first.push_back(made.first[by_first[at]]);
    reordered.count.push_back(made.count[by_first[at]]);
  }
  for (auto which : made.inverse)
    reordered.inverse.push_back(place[static_cast<std::size_t>(which)]);
  return reordered;
}

} // namespace

result<std::vector<datum>> run_unique(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  shape dims = (*from)->dims;
  std::size_t axis = 0;
  if (const auto* written = of.attributes.find<std::int64_t>("axis")) {
    auto counted = axis_in(*written, dims.size());
    if (!counted)
      return propagate(counted);
    axis = *counted;
  } else {
    dims = {element_count(dims)};
  }
  const auto compare = comparison_of((*from)->type);
  if (compare == nullptr)
    return fail(errc::unimplemented, "datatype {} is not supported", to_string((*from)->type));
  auto slices = slices_of(**from, axis, dims);
  if (!slices)
    return propagate(slices);
  const auto found = group(*slices, compare, of.attributes.integer("sorted", 1) != 0);
  auto elements = element_runs::of(**from);
  if (!elements)
    return propagate(elements);
  const std::span<const std::int64_t> all{dims};
  const auto rows = element_count(all.first(axis));
  const auto width = element_count(all.subspan(axis + 1));
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < rows; ++row)
    for (auto at : found.first)
      runs.push_back(elements->run((row * dims[axis] + at) * width, width));
  auto left = dims;
  left[axis] = static_cast<std::int64_t>(found.first.size());
  std::vector<datum> outputs{join_runs((*from)->type, left, runs)};
  for (const auto* list : {&found.first, &found.inverse, &found.count}) {
    const auto length = static_cast<std::int64_t>(list->size());
    outputs.emplace_back(make_integers({&length, 1}, *list));
  }
  outputs.resize(of.outputs_wanted.size());
  return outputs;
}

} // namespace troupe::cpu
