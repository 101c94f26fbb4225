#include "runtime/passes/match.hpp"

#include "runtime/graph/dim_math.hpp"

#include <cmath>
#include <limits>

namespace troupe::passes {

std::optional<float> scalar_in(const graph::graph& of, value_id value) {
  if (!of.is_constant(value))
    return std::nullopt;
  const auto& content = *of.values[value].constant;
  if (content.type != dtype::float32 || element_count(content.dims) != 1)
    return std::nullopt;
  return elements_of<float>(content.data).front();
}

bool holds(const graph::graph& of, value_id value, double expected) {
  const auto number = scalar_in(of, value);
  return number && std::abs(*number - expected) <= 4e-7 * std::abs(expected);
}

bool same_dims(const graph::graph& of, value_id left, value_id right) {
  if (left == no_value || right == no_value)
    return false;
  const auto& one = of.values[left].dims;
  const auto& other = of.values[right].dims;
  return one && other && std::equal(one->begin(), one->end(), other->begin(), other->end());
}

std::optional<with_scalar> match_scalar(const graph::graph& of, const node& binary) {
  if (binary.inputs.size() < 2 || binary.outputs.front() == no_value)
    return std::nullopt;
  for (std::size_t side : {1U, 0U}) {
    const auto number = scalar_in(of, binary.inputs[side]);
    const auto x = binary.inputs[1 - side];
    if (number && x != no_value && !of.is_constant(x) && same_dims(of, x, binary.outputs.front()))
      return with_scalar{x, *number, side == 0};
  }
  return std::nullopt;
}

std::optional<value_id> other_input(const node& binary, value_id known) {
  if (binary.inputs.size() != 2)
    return std::nullopt;
  if (binary.inputs[0] == known)
    return binary.inputs[1];
  if (binary.inputs[1] == known)
    return binary.inputs[0];
  return std::nullopt;
}

std::optional<std::pair<float, float>> clip_bounds(const graph::graph& of, const node& clip) {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  if (clip.version < 11)
    return std::pair{clip.attributes.real("min", -infinity), clip.attributes.real("max", infinity)};
  std::pair bounds{-infinity, infinity};
  for (std::size_t input : {1U, 2U}) {
    if (input >= clip.inputs.size() || clip.inputs[input] == no_value)
      continue;
    const auto number = scalar_in(of, clip.inputs[input]);
    if (!number)
      return std::nullopt;
    (input == 1 ? bounds.first : bounds.second) = *number;
  }
  return bounds;
}

std::shared_ptr<const tensor> make_floats(std::span<const std::int64_t> dims,
                                          std::span<const float> content) {
  auto made = std::make_shared<tensor>();
  made->type = dtype::float32;
  made->dims.assign(dims.begin(), dims.end());
  made->data = copy_of(std::as_bytes(content));
  return made;
}

} // namespace troupe::passes
