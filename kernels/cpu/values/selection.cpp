// ONNX: NonZero-9 and -13, Compress-9 and -11.

#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

// An element counts as zero when all its bits are, a float also when only its sign is set.
template <class T>
std::vector<std::int64_t> positions_of_non_zero(const tensor& from) {
  std::vector<std::int64_t> found;
  const auto elements = elements_of<T>(from.data);
  for (std::size_t at = 0; at < elements.size(); ++at)
    if (elements[at] != T{})
      found.push_back(static_cast<std::int64_t>(at));
  return found;
}

std::vector<std::int64_t> positions_of_non_zero_half(const tensor& from) {
  std::vector<std::int64_t> found;
  const auto bits = elements_of<std::uint16_t>(from.data);
  for (std::size_t at = 0; at < bits.size(); ++at)
    if ((bits[at] & 0x7fffU) != 0)
      found.push_back(static_cast<std::int64_t>(at));
  return found;
}

result<std::vector<std::int64_t>> non_zero(const tensor& from) {
  if (from.type == dtype::boolean)
    return positions_of_non_zero<std::uint8_t>(from);
  if (from.type == dtype::float16 || from.type == dtype::bfloat16)
    return positions_of_non_zero_half(from);
  std::vector<std::int64_t> found;
  if (!visit_numeric(from.type, [&](auto tag) {
        found = positions_of_non_zero<typename decltype(tag)::type>(from);
      }))
    return fail(errc::unimplemented, "datatype {} is not supported", to_string(from.type));
  return found;
}

} // namespace

// Row a of the output has the positions along axis a.
result<std::vector<datum>> run_non_zero(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  auto found = non_zero(**from);
  if (!found)
    return propagate(found);
  const auto& dims = (*from)->dims;
  const auto strides = row_major_strides(dims);
  std::vector<std::int64_t> rows;
  rows.reserve(found->size() * dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    for (auto position : *found)
      rows.push_back(position / strides[axis] % dims[axis]);
  const std::int64_t made[] = {static_cast<std::int64_t>(dims.size()),
                               static_cast<std::int64_t>(found->size())};
  return std::vector<datum>{make_integers(made, rows)};
}

// Without an axis the input is one run of elements. A short condition leaves the rest out.
result<std::vector<datum>> run_compress(const value_call& of) {
  auto from = tensor_in(of, 0);
  auto condition = tensor_in(of, 1);
  if (!from || !condition)
    return from ? propagate(condition) : propagate(from);
  if ((*condition)->type != dtype::boolean || (*condition)->dims.size() != 1)
    return fail(errc::invalid_argument, "a condition of BOOL and rank 1 expected, {} of {} found",
                to_string((*condition)->dims), to_string((*condition)->type));
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
  const auto kept = elements_of<std::uint8_t>((*condition)->data);
  if (static_cast<std::int64_t>(kept.size()) > dims[axis])
    return fail(errc::invalid_argument, "a condition of at most {} elements expected, {} found",
                dims[axis], kept.size());
  auto elements = element_runs::of(**from);
  if (!elements)
    return propagate(elements);
  const std::span<const std::int64_t> all{dims};
  const auto outer = element_count(all.first(axis));
  const auto inner = element_count(all.subspan(axis + 1));
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::size_t at = 0; at < kept.size(); ++at)
      if (kept[at] != 0)
        runs.push_back(
            elements->run((row * dims[axis] + static_cast<std::int64_t>(at)) * inner, inner));
  dims[axis] = std::ranges::count_if(kept, [](auto keep) { return keep != 0; });
  return std::vector<datum>{join_runs((*from)->type, dims, runs)};
}

} // namespace troupe::cpu
