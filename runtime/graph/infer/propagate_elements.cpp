// Shapes are often computed by the model itself: Shape, Slice, Cast, Concat, then Reshape.
// Following the content of such small integer tensors element by element keeps the dims behind them
// known, with symbols where sizes are symbols.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/slice_bounds.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace troupe::graph {

namespace {

using content = std::vector<element>;

constexpr element nothing{};

bool tracked(std::optional<dtype> type) {
  return type == dtype::int64 || type == dtype::int32 || type == dtype::boolean;
}

element checked(bool overflow, std::int64_t number) {
  return overflow ? nothing : element{number};
}

bool is_size(element one) {
  return one.is_known() && !(one.is_number() && one.number() < 0);
}

// Of what may be sizes, by an operation on sizes.
element of_sizes(inference& at, element left, element right,
                 result<dim> (*apply)(std::span<const dim>, graph&)) {
  if (!is_size(left) || !is_size(right))
    return nothing;
  const std::array<dim, 2> sizes{left.size(), right.size()};
  auto made = apply(sizes, at.symbols());
  return made ? element{*made} : nothing;
}

element add(inference& at, element left, element right) {
  if (left.is_number() && right.is_number()) {
    std::int64_t all = 0;
    const bool overflow = __builtin_add_overflow(left.number(), right.number(), &all);
    return checked(overflow, all);
  }
  if (right == element{0})
    return left;
  if (left == element{0})
    return right;
  return of_sizes(at, left, right, sum);
}

element subtract(inference& /*at*/, element left, element right) {
  if (left.is_number() && right.is_number()) {
    std::int64_t all = 0;
    const bool overflow = __builtin_sub_overflow(left.number(), right.number(), &all);
    return checked(overflow, all);
  }
  return right == element{0} ? left : nothing;
}

element multiply(inference& at, element left, element right) {
  if (left.is_number() && right.is_number()) {
    std::int64_t all = 0;
    const bool overflow = __builtin_mul_overflow(left.number(), right.number(), &all);
    return checked(overflow, all);
  }
  return of_sizes(at, left, right, product);
}

// Integer division rounds towards zero, and so does ONNX's Div.
element divide(inference& at, element left, element right) {
  if (!right.is_number() || right.number() == 0)
    return nothing;
  if (left.is_number())
    return right.number() == -1 ? nothing : element{left.number() / right.number()};
  if (!left.is_known() || right.number() < 0)
    return nothing;
  auto made = floor_affine(left.size(), 1, 0, right.number(), at.symbols());
  return made ? element{*made} : nothing;
}

element minimum(inference& /*at*/, element left, element right) {
  const bool numbers = left.is_number() && right.is_number();
  return numbers ? element{std::min(left.number(), right.number())} : nothing;
}

element maximum(inference& /*at*/, element left, element right) {
  const bool numbers = left.is_number() && right.is_number();
  return numbers ? element{std::max(left.number(), right.number())} : nothing;
}

element equal(inference& /*at*/, element left, element right) {
  if (left.is_number() && right.is_number())
    return element{std::int64_t{left.number() == right.number()}};
  if (left.is_known() && left == right)
    return element{1};
  const bool negative = (left.is_number() && left.number() < 0 && right.is_known())
                        || (right.is_number() && right.number() < 0 && left.is_known());
  return negative ? element{0} : nothing; // a size is never negative
}

struct binary_entry {
  std::string_view op_type;
  element (*apply)(inference&, element, element);
};

constexpr std::array binaries{
    binary_entry{"Add", add},     binary_entry{"Sub", subtract}, binary_entry{"Mul", multiply},
    binary_entry{"Div", divide},  binary_entry{"Min", minimum},  binary_entry{"Max", maximum},
    binary_entry{"Equal", equal},
};

const element& pick(const content& from, std::size_t index) {
  return from[from.size() == 1 ? 0 : index];
}

content binary(inference& at, const binary_entry& op) {
  const auto left = at.elements(0);
  const auto right = at.elements(1);
  if (at.input_count() != 2 || left.empty() || right.empty())
    return {};
  content made;
  for (std::size_t index = 0; index < std::max(left.size(), right.size()); ++index)
    made.push_back(op.apply(at, pick(left, index), pick(right, index)));
  return made;
}

content where(inference& at) {
  const auto condition = at.elements(0);
  const auto yes = at.elements(1);
  const auto no = at.elements(2);
  if (condition.empty() || yes.empty() || no.empty())
    return {};
  content made;
  for (std::size_t index = 0; index < std::max({condition.size(), yes.size(), no.size()});
       ++index) {
    const auto& which = pick(condition, index);
    const auto& first = pick(yes, index);
    const auto& second = pick(no, index);
    if (which.is_number())
      made.push_back(which.number() != 0 ? first : second);
    else
      made.push_back(first == second ? first : nothing);
  }
  return made;
}

content concat(inference& at) {
  content all;
  for (std::size_t input = 0; input < at.input_count(); ++input) {
    auto part = at.elements(input);
    const auto length = at.length(input);
    if (part.empty() && length && *length <= max_tracked_elements)
      part.resize(static_cast<std::size_t>(*length));
    else if (part.empty())
      return {};
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

content slice(inference& at) {
  const auto from = at.elements(0);
  if (from.empty() || at.dims(0) == nullptr || at.dims(0)->size() != 1)
    return {};
  const auto cuts = slice_bounds_of(at);
  if (!cuts || !*cuts || (*cuts)->size() != 1)
    return {};
  const auto& cut = (*cuts)->front();
  if (!cut.are_numbers())
    return {};
  const auto taken = extent_of(cut, static_cast<std::int64_t>(from.size()));
  content made;
  for (std::int64_t index = 0; index < taken.count; ++index)
    made.push_back(from[static_cast<std::size_t>(taken.first + index * cut.step)]);
  return made;
}

content gather(inference& at) {
  const auto from = at.elements(0);
  const auto* data = at.dims(0);
  if (from.empty() || data == nullptr || data->size() != 1)
    return {};
  content made;
  for (const auto& index : at.elements(1)) {
    const auto size = static_cast<std::int64_t>(from.size());
    if (!index.is_number() || index.number() < -size || index.number() >= size)
      return {};
    const auto position = index.number() < 0 ? index.number() + size : index.number();
    made.push_back(from[static_cast<std::size_t>(position)]);
  }
  return made;
}

content product_of_all(inference& at) {
  const auto from = at.elements(0);
  if (from.empty())
    return {};
  element all{1};
  for (const auto& next : from)
    all = multiply(at, all, next);
  return {all};
}

// The output's single axis, filled with one number.
content filled(inference& at) {
  const auto& dims = at.outputs().front().dims;
  const auto* value = at.attributes().find<tensor>("value");
  const auto known = dims ? concrete(*dims) : std::nullopt;
  if (value == nullptr || !known || known->size() > 1
      || element_count(*known) > max_tracked_elements)
    return {};
  const auto one = elements_of_constant(*value);
  if (one.size() != 1)
    return {};
  return content(static_cast<std::size_t>(element_count(*known)), one.front());
}

content expand(inference& at) {
  const auto from = at.elements(0);
  const auto& dims = at.outputs().front().dims;
  const auto known = dims ? concrete(*dims) : std::nullopt;
  if (from.size() != 1 || !known || known->size() > 1
      || element_count(*known) > max_tracked_elements)
    return {};
  return content(static_cast<std::size_t>(element_count(*known)), from.front());
}

// A cast between the integer types keeps the numbers; `constant_of_elements` refuses what does not
// fit.
content cast(inference& at) {
  auto from = at.elements(0);
  if (at.outputs().front().type == dtype::boolean && at.type(0) != dtype::boolean)
    for (auto& next : from)
      next = next.is_number() ? element{std::int64_t{next.number() != 0}} : nothing;
  return from;
}

content unchanged(inference& at) {
  return at.elements(0);
}

struct entry {
  std::string_view op_type;
  content (*follow)(inference&);
};

constexpr std::array rules{
    entry{"Cast", cast},
    entry{"Concat", concat},
    entry{"ConstantOfShape", filled},
    entry{"Expand", expand},
    entry{"Flatten", unchanged},
    entry{"Gather", gather},
    entry{"Identity", unchanged},
    entry{"ReduceProd", product_of_all},
    entry{"Reshape", unchanged},
    entry{"Slice", slice},
    entry{"Squeeze", unchanged},
    entry{"Unsqueeze", unchanged},
    entry{"Where", where},
};

} // namespace

void propagate_elements(inference& at) {
  if (!at.of().domain.empty() || at.outputs().empty() || !tracked(at.outputs().front().type))
    return;
  const auto& op_type = at.of().op_type;
  for (const auto& op : binaries)
    if (op.op_type == op_type)
      return at.set_elements(0, binary(at, op));
  for (const auto& op : rules)
    if (op.op_type == op_type)
      return at.set_elements(0, op.follow(at));
}

} // namespace troupe::graph
