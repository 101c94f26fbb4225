#include "runtime/graph/infer/slice_bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::graph {

namespace {

using numbers = std::vector<std::int64_t>;

constexpr std::int64_t far = std::int64_t{1} << 62; // beyond any axis, and safe to add a size to

// An input or, in the old form, an attribute; `fallback` if neither is there; nothing while
// unknown.
std::optional<numbers> constants(const inference& at, std::size_t input, const char* attribute,
                                 numbers fallback) {
  if (at.has(input))
    return at.integers(input);
  if (at.version() < 10 && at.attributes().has(attribute))
    return at.attributes().integers(attribute);
  return fallback;
}

std::vector<element> positions(const inference& at, std::size_t input, const char* attribute) {
  if (at.has(input))
    return at.elements(input);
  const auto written = at.attributes().integers(attribute);
  return {written.begin(), written.end()};
}

element clamped(const element& position) {
  return position.is_number() ? element{std::clamp(position.number(), -far, far)} : position;
}

} // namespace

result<std::optional<std::vector<slice_bounds>>> slice_bounds_of(const inference& at) {
  using found = std::optional<std::vector<slice_bounds>>;
  auto starts = positions(at, 1, "starts");
  auto ends = positions(at, 2, "ends");
  const auto count = std::max(starts.size(), ends.size());
  if (starts.empty())
    starts.resize(count);
  if (ends.empty())
    ends.resize(count);
  numbers first_axes(count);
  std::iota(first_axes.begin(), first_axes.end(), 0);
  const auto axes = constants(at, 3, "axes", first_axes);
  const auto steps = constants(at, 4, "steps", numbers(count, 1));
  if (!axes || !steps || count == 0)
    return found{};
  if (starts.size() != count || ends.size() != count || axes->size() != count
      || steps->size() != count)
    return fail(errc::invalid_argument,
                "starts, ends, axes and steps of one length expected, {}, {}, {} and {} found",
                starts.size(), ends.size(), axes->size(), steps->size());
  auto normal = inference::axes_in(*axes, at.dims(0)->size());
  if (!normal)
    return propagate(normal);
  std::vector<slice_bounds> cuts;
  for (std::size_t index = 0; index < count; ++index) {
    if ((*steps)[index] == 0 || (*steps)[index] == std::numeric_limits<std::int64_t>::min())
      return fail(errc::invalid_argument, "a step other than 0 expected, {} found",
                  (*steps)[index]);
    cuts.push_back(
        {(*normal)[index], clamped(starts[index]), clamped(ends[index]), (*steps)[index]});
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
  slice_extent taken{bound(cut.start.number()), 0};
  const auto end = bound(cut.end.number());
  if (forward && end > taken.first)
    taken.count = (end - taken.first - 1) / cut.step + 1;
  if (!forward && end < taken.first)
    taken.count = (taken.first - end - 1) / -cut.step + 1;
  return taken;
}

bool takes_all(const slice_bounds& cut, dim of) noexcept {
  if (cut.start != element{0} || cut.step != 1)
    return false;
  const auto enough =
      of.known() ? of.size() : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  return cut.end.is_number() ? cut.end.number() >= enough : cut.end == element{of};
}

namespace {

std::string text_of(const element& bound) {
  return bound.is_number() ? std::to_string(bound.number())
                           : fmt::format("s{}", bound.size().symbol());
}

// Some length that depends on the sizes named and on nothing else.
dim size_between(const slice_bounds& cut, dim of, graph& symbols) {
  std::vector<dim> parts;
  for (const auto* bound : {&cut.start, &cut.end})
    if (!bound->is_number())
      parts.push_back(bound->size());
  if (!of.known())
    parts.push_back(of);
  const auto whole = of.known() ? std::to_string(of.size()) : fmt::format("s{}", of.symbol());
  return symbols.derived_dim(
      fmt::format("slice:{}:{}:{}:{}", whole, text_of(cut.start), text_of(cut.end), cut.step), "",
      parts);
}

} // namespace

dim slice_size(const slice_bounds& cut, dim of, graph& symbols) {
  if (takes_all(cut, of))
    return of;
  if (!cut.are_numbers()) {
    const bool prefix = cut.start == element{0} && cut.step == 1 && cut.end.is_known();
    if (prefix && of.known())
      return symbols.minimum(cut.end.size(), of.size());
    return cut.start.is_known() && cut.end.is_known() ? size_between(cut, of, symbols)
                                                      : symbols.fresh_dim();
  }
  if (of.known())
    return extent_of(cut, of.size()).count;
  const auto key =
      fmt::format("slice:{}:{}:{}:{}", of.symbol(), cut.start.number(), cut.end.number(), cut.step);
  return symbols.derived_dim(key,
                             fmt::format("{}[{}:{}:{}]", to_string(of, symbols), cut.start.number(),
                                         cut.end.number(), cut.step),
                             {&of, 1});
}

} // namespace troupe::graph
