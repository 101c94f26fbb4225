#pragma once

#include "kernels/base/result.hpp"
#include "runtime/graph/dim.hpp"
#include "runtime/graph/graph.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace troupe::graph {

/// floor((of * multiply + add) / divide); divide > 0. Of a symbol: the same symbol if it is the
/// identity, else one symbol for each distinct formula, so that two branches of a network that
/// shrink alike stay equal. invalid_argument on a negative or overflowing size.
[[nodiscard]] result<dim> floor_affine(dim of, std::int64_t multiply, std::int64_t add,
                                       std::int64_t divide, graph& symbols);

/// What two axes give when they are broadcast; invalid_argument if they cannot be.
[[nodiscard]] result<dim> broadcast(dim left, dim right, graph& symbols);
[[nodiscard]] result<symbolic_shape> broadcast(std::span<const dim> left,
                                               std::span<const dim> right, graph& symbols);

/// The product of sizes; a product of symbols is a symbol of its own, the same whatever their
/// order.
[[nodiscard]] result<dim> product(std::span<const dim> sizes, graph& symbols);

/// The size of the axis that fills `total` when multiplied with `others`: nothing when that is not
/// known. Equal symbols cancel. invalid_argument when numbers do not divide.
[[nodiscard]] result<std::optional<dim>> quotient(std::span<const dim> total,
                                                  std::span<const dim> others, graph& symbols);

/// The sum of sizes, as `product`.
[[nodiscard]] result<dim> sum(std::span<const dim> sizes, graph& symbols);

/// Whether a tensor of `small` broadcasts into one of `large` without changing its shape, whatever
/// the symbols stand for.
[[nodiscard]] bool broadcasts_into(std::span<const dim> small, std::span<const dim> large);

using troupe::to_string; // the overloads below would hide it

/// "[N,3,H,W]" with the graph's names of symbols.
[[nodiscard]] std::string to_string(std::span<const dim> dims, const graph& symbols);
[[nodiscard]] std::string to_string(dim size, const graph& symbols);

} // namespace troupe::graph
