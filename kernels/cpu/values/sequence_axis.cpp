// Between a tensor and a sequence of its parts along an axis. ONNX: SplitToSequence-11 and -24,
// ConcatFromSequence-11.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

namespace troupe::cpu {

namespace {

/// How much of the axis each part takes. A scalar `split` is the size of every part but the last.
result<std::vector<std::int64_t>> part_sizes(const value_call& of, std::int64_t width) {
  if (!of.has(1))
    return std::vector<std::int64_t>(static_cast<std::size_t>(width), 1);
  auto split = tensor_in(of, 1);
  if (!split)
    return propagate(split);
  auto sizes = integers_in(**split);
  if (!sizes)
    return propagate(sizes);
  if (!(*split)->dims.empty()) {
    std::int64_t rest = width;
    for (auto size : *sizes) {
      if (size < 0 || size > rest)
        return fail(errc::invalid_argument, "split sizes that add up to {} expected, {} found",
                    width, to_string(*sizes));
      rest -= size;
    }
    if (rest != 0)
      return fail(errc::invalid_argument, "split sizes that add up to {} expected, {} found", width,
                  to_string(*sizes));
    return sizes;
  }
  const auto size = sizes->front();
  if (size <= 0)
    return fail(errc::invalid_argument, "a split of at least 1 expected, {} found", size);
  std::vector<std::int64_t> parts(static_cast<std::size_t>(width / size), size);
  if (width % size != 0)
    parts.push_back(width % size);
  return parts;
}

tensor part_of(const element_runs& from, const tensor& whole, std::size_t axis, std::int64_t first,
               std::int64_t width) {
  const std::span<const std::int64_t> dims{whole.dims};
  const auto outer = element_count(dims.first(axis));
  const auto inner = element_count(dims.subspan(axis + 1));
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < outer; ++row)
    runs.push_back(from.run((row * dims[axis] + first) * inner, width * inner));
  auto own = whole.dims;
  own[axis] = width;
  return join_runs(whole.type, own, runs);
}

} // namespace

result<std::vector<datum>> run_split_to_sequence(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  const auto& whole = **from;
  auto axis = axis_in(of.attributes.integer("axis", 0), whole.dims.size());
  if (!axis)
    return propagate(axis);
  auto sizes = part_sizes(of, whole.dims[*axis]);
  auto runs = element_runs::of(whole);
  if (!sizes || !runs)
    return sizes ? propagate(runs) : propagate(sizes);
  const bool drop_axis = !of.has(1) && of.attributes.integer("keepdims", 1) == 0;
  tensor_sequence made{whole.type, {}};
  std::int64_t first = 0;
  for (auto size : *sizes) {
    auto part = part_of(*runs, whole, *axis, first, size);
    if (drop_axis)
      part.dims.erase(part.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
    made.elements.push_back(std::move(part));
    first += size;
  }
  return std::vector<datum>{std::move(made)};
}

result<std::vector<datum>> run_concat_from_sequence(const value_call& of) {
  auto from = sequence_in(of, 0);
  if (!from)
    return propagate(from);
  const auto& elements = (*from)->elements;
  if (elements.empty())
    return fail(errc::invalid_argument, "the sequence has no tensor to join");
  const bool new_axis = of.attributes.integer("new_axis", 0) != 0;
  const auto* written = of.attributes.find<std::int64_t>("axis");
  if (written == nullptr)
    return fail(errc::invalid_argument, "attribute axis expected, none found");
  auto axis = axis_in(*written, elements.front().dims.size() + (new_axis ? 1 : 0));
  if (!axis)
    return propagate(axis);
  auto dims = elements.front().dims;
  if (new_axis)
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis), 1);
  std::vector<element_runs> parts;
  std::vector<std::int64_t> widths;
  std::int64_t width = 0;
  for (const auto& next : elements) {
    auto own = next.dims;
    if (new_axis && own.size() < dims.size())
      own.insert(own.begin() + static_cast<std::ptrdiff_t>(std::min(*axis, own.size())), 1);
    auto expected = dims;
    if (own.size() == dims.size())
      expected[*axis] = own[*axis];
    if (next.type != elements.front().type || own != expected)
      return fail(errc::invalid_argument, "{} of {} does not join {} of {} along axis {}",
                  to_string(next.dims), to_string(next.type), to_string(elements.front().dims),
                  to_string(elements.front().type), *axis);
    auto runs = element_runs::of(next);
    if (!runs)
      return propagate(runs);
    parts.push_back(*std::move(runs));
    widths.push_back(own[*axis]);
    width += own[*axis];
  }
  dims[*axis] = width;
  const std::span<const std::int64_t> all{dims};
  const auto outer = element_count(all.first(*axis));
  const auto inner = element_count(all.subspan(*axis + 1));
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::size_t index = 0; index < parts.size(); ++index)
      runs.push_back(parts[index].run(row * widths[index] * inner, widths[index] * inner));
  return std::vector<datum>{join_runs(elements.front().type, dims, runs)};
}

} // namespace troupe::cpu
