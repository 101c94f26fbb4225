#include "runtime/graph/infer/slice_bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::graph {

namespace {

constexpr std::int64_t far = std::int64_t{1} << 62; // beyond any axis, and safe to add a size to

// An input or, in the old form, an attribute; `fallback` if neither is there; nothing while
// unknown.
std::optional<std::vector<std::int64_t>> numbers(const inference& at, std::size_t input,
                                                 const char* attribute,
                                                 std::vector<std::int64_t> fallback) {
  if (at.has(input))
    return at.integers(input);
  if (at.version() < 10 && at.attributes().has(attribute))
    return at.attributes().integers(attribute);
  return fallback;
}

} // namespace

result<std::optional<std::vector<slice_bounds>>> slice_bounds_of(const inference& at) {
  using found = std::optional<std::vector<slice_bounds>>;
  const auto starts = numbers(at, 1, "starts", {});
  const auto ends = numbers(at, 2, "ends", {});
  if (!starts || !ends)
    return found{};
  std::vector<std::int64_t> first_axes(starts->size());
  std::iota(first_axes.begin(), first_axes.end(), 0);
  const auto axes = numbers(at, 3, "axes", first_axes);
  const auto steps = numbers(at, 4, "steps", std::vector<std::int64_t>(starts->size(), 1));
  if (!axes || !steps)
    return found{};
  if (ends->size() != starts->size() || axes->size() != starts->size()
      || steps->size() != starts->size())
    return fail(errc::invalid_argument,
                "starts, ends, axes and steps of one length expected, {}, {}, {} and {} found",
                starts->size(), ends->size(), axes->size(), steps->size());
  auto normal = inference::axes_in(*axes, at.dims(0)->size());
  if (!normal)
    return propagate(normal);
  std::vector<slice_bounds> cuts;
  for (std::size_t index = 0; index < starts->size(); ++index) {
    if ((*steps)[index] == 0 || (*steps)[index] == std::numeric_limits<std::int64_t>::min())
      return fail(errc::invalid_argument, "a step other than 0 expected, {} found",
                  (*steps)[index]);
    cuts.push_back({(*normal)[index], std::clamp((*starts)[index], -far, far),
                    std::clamp((*ends)[index], -far, far), (*steps)[index]});
  }
  return found{std::move(cuts)};
}

slice_extent extent_of(const slice_bounds& cut, std::int64_t size) noexcept {
  const bool forward = cut.step > 0;
  const auto bound = [&](std::int64_t position) {
    if (position < 0)
      position += size;
    return forward ? std::clamp<std::int64_t>(position, 0, size)
                   : std::clamp<std::int64_t>(position, -1, size - 1);
  };
  slice_extent taken{bound(cut.start), 0};
  const auto end = bound(cut.end);
  if (forward && end > taken.first)
    taken.count = (end - taken.first - 1) / cut.step + 1;
  if (!forward && end < taken.first)
    taken.count = (taken.first - end - 1) / -cut.step + 1;
  return taken;
}

bool takes_all(const slice_bounds& cut) noexcept {
  return cut.start == 0 && cut.step == 1 && cut.end >= std::numeric_limits<std::int32_t>::max();
}

dim slice_size(const slice_bounds& cut, dim of, graph& symbols) {
  if (of.known())
    return extent_of(cut, of.size()).count;
  if (takes_all(cut))
    return of;
  const auto key = fmt::format("slice:{}:{}:{}:{}", of.symbol(), cut.start, cut.end, cut.step);
  return symbols.derived_dim(
      key, fmt::format("{}[{}:{}:{}]", to_string(of, symbols), cut.start, cut.end, cut.step));
}

} // namespace troupe::graph
