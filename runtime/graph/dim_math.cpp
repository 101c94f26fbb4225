#include "runtime/graph/dim_math.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace troupe::graph {

namespace {

__extension__ using wide = __int128;

constexpr std::int64_t largest_size = std::int64_t{1} << 40;

result<dim> sized(wide size) {
  if (size < 0)
    return fail(errc::invalid_argument, "a size of {} results", static_cast<std::int64_t>(size));
  if (size > largest_size)
    return fail(errc::invalid_argument, "a size beyond {} results", largest_size);
  return dim{static_cast<std::int64_t>(size)};
}

wide floor_divide(wide value, wide by) {
  const wide quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

// One symbol for each set of parts joined by `op`, sorted so that their order does not count.
dim joined(std::vector<dim> parts, std::int64_t number, std::int64_t neutral, char op,
           graph& symbols) {
  if (number == neutral && parts.size() == 1)
    return parts.front();
  std::ranges::sort(parts, {}, [](dim part) { return part.symbol(); });
  std::string key{op};
  std::string label;
  for (const auto& part : parts) {
    key += fmt::format(":{}", part.symbol());
    label += (label.empty() ? "" : std::string{op}) + to_string(part, symbols);
  }
  if (number != neutral) {
    key += fmt::format("#{}", number);
    label += fmt::format("{}{}", op, number);
  }
  return symbols.derived_dim(key, "(" + label + ")", parts);
}

// Numbers multiplied, symbols collected; a symbol that is a product counts as its factors.
result<std::pair<wide, std::vector<dim>>> factors(std::span<const dim> sizes,
                                                  const graph& symbols) {
  std::pair<wide, std::vector<dim>> found{1, {}};
  const auto take = [&](std::span<const dim> of) {
    for (const auto& size : of)
      if (!size.known())
        found.second.push_back(size);
      else if (found.first *= size.size(); found.first > largest_size)
        return false;
    return true;
  };
  for (const auto& size : sizes) {
    const auto* parts = size.known() ? nullptr : symbols.product_of(size.symbol());
    if (!take(parts == nullptr ? std::span{&size, 1} : std::span{*parts}))
      return fail(errc::invalid_argument, "more than {} elements result", largest_size);
  }
  return found;
}

} // namespace

result<dim> floor_affine(dim of, std::int64_t multiply, std::int64_t add, std::int64_t divide,
                         graph& symbols) {
  if (of.known())
    return sized(floor_divide(wide{of.size()} * multiply + add, divide));
  if (multiply == divide && add >= 0 && add < divide)
    return of;
  const auto key = fmt::format("affine:{}:{}:{}:{}", of.symbol(), multiply, add, divide);
  auto label = to_string(of, symbols);
  if (multiply != 1)
    label = fmt::format("{}*{}", label, multiply);
  if (add != 0)
    label = fmt::format("{}{:+}", label, add);
  label = divide == 1 ? fmt::format("({})", label) : fmt::format("floor(({})/{})", label, divide);
  return symbols.derived_dim(key, label, {&of, 1});
}

result<dim> broadcast(dim left, dim right, graph& symbols) {
  if (left == right || right == dim{1})
    return left;
  if (left == dim{1})
    return right;
  if (left.known() && right.known())
    return fail(errc::invalid_argument, "sizes {} and {} do not broadcast", left.size(),
                right.size());
  if (left.known() || right.known()) // the symbol stands for 1 or for the number
    return left.known() ? left : right;
  if (symbols.is_minimum_of(left, right) || symbols.is_minimum_of(right, left))
    return symbols.is_minimum_of(left, right) ? right : left;
  return joined({left, right}, 0, 0, '|', symbols);
}

result<symbolic_shape> broadcast(std::span<const dim> left, std::span<const dim> right,
                                 graph& symbols) {
  if (left.size() < right.size())
    std::swap(left, right);
  symbolic_shape all{left.begin(), left.end()};
  const auto ahead = left.size() - right.size();
  for (std::size_t axis = 0; axis < right.size(); ++axis) {
    auto one = broadcast(left[ahead + axis], right[axis], symbols);
    if (!one)
      return fail(errc::invalid_argument, "{} and {} do not broadcast", to_string(left, symbols),
                  to_string(right, symbols));
    all[ahead + axis] = *one;
  }
  return all;
}

result<dim> product(std::span<const dim> sizes, graph& symbols) {
  auto found = factors(sizes, symbols);
  if (!found)
    return propagate(found);
  if (found->second.empty() || found->first == 0)
    return sized(found->first);
  const auto number = static_cast<std::int64_t>(found->first);
  const auto made = joined(found->second, number, 1, '*', symbols);
  if (found->second.size() > 1 || number != 1) {
    found->second.emplace_back(number);
    symbols.note_product(made, std::move(found->second));
  }
  return made;
}

result<std::optional<dim>> quotient(std::span<const dim> total, std::span<const dim> others,
                                    graph& symbols) {
  auto above = factors(total, symbols);
  auto below = factors(others, symbols);
  if (!above || !below)
    return propagate(above ? below : above);
  auto& rest = above->second;
  for (const auto& symbol : below->second) {
    const auto same = std::ranges::find(rest, symbol);
    if (same == rest.end())
      return std::optional<dim>{};
    rest.erase(same);
  }
  if (below->first == 0)
    return fail(errc::invalid_argument, "the size of axis -1 cannot follow from sizes of 0");
  if (above->first % below->first != 0) {
    if (rest.empty())
      return fail(errc::invalid_argument, "{} elements cannot be cut into {}",
                  static_cast<std::int64_t>(above->first), static_cast<std::int64_t>(below->first));
    return std::optional<dim>{};
  }
  std::vector<dim> parts = rest;
  parts.emplace_back(static_cast<std::int64_t>(above->first / below->first));
  auto made = product(parts, symbols);
  if (!made)
    return propagate(made);
  return std::optional<dim>{*made};
}

result<dim> sum(std::span<const dim> sizes, graph& symbols) {
  wide number = 0;
  std::vector<dim> parts;
  for (const auto& size : sizes)
    if (size.known())
      number += size.size();
    else
      parts.push_back(size);
  auto known = sized(number);
  if (!known || parts.empty())
    return known;
  return joined(std::move(parts), known->size(), 0, '+', symbols);
}

bool broadcasts_into(std::span<const dim> small, std::span<const dim> large) {
  if (small.size() > large.size())
    return false;
  const auto ahead = large.size() - small.size();
  for (std::size_t axis = 0; axis < small.size(); ++axis)
    if (small[axis] != dim{1} && small[axis] != large[ahead + axis])
      return false;
  return true;
}

std::string to_string(dim size, const graph& symbols) {
  if (size.known())
    return std::to_string(size.size());
  const bool named = size.symbol() < symbols.symbols.size();
  const auto& label = named ? symbols.symbols[size.symbol()] : std::string{};
  return label.empty() ? fmt::format("?{}", size.symbol()) : label;
}

std::string to_string(std::span<const dim> dims, const graph& symbols) {
  std::string text = "[";
  for (const auto& axis : dims)
    text += (text.size() == 1 ? "" : ",") + to_string(axis, symbols);
  return text + "]";
}

} // namespace troupe::graph
