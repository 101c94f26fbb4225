#include "kernels/cpu/ml/forest.hpp"

#include "kernels/cpu/candidate.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

namespace {

constexpr std::uint32_t not_placed = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t open = not_placed - 1; // its branches are being placed

// Puts the nodes behind each other, each before its branches, and finds cycles on the way.
struct placing {
  std::vector<std::uint32_t> place; // of the written nodes
  std::vector<std::size_t> order;   // written nodes in the order of their places

  bool add_tree(const written_forest& from, std::size_t root) {
    struct step {
      std::size_t node;
      int branch;
    };
    std::vector<step> path{{root, 0}};
    while (!path.empty()) {
      auto& at = path.back();
      const auto& node = from.nodes[at.node];
      if (at.branch == 0) {
        if (done_[at.node]) {
          path.pop_back();
          continue;
        }
        if (place[at.node] != not_placed)
          return false; // it leads to itself
        place[at.node] = static_cast<std::uint32_t>(order.size());
        order.push_back(at.node);
      }
      if (node.mode == branch::leaf || at.branch == 2) {
        done_[at.node] = true;
        path.pop_back();
        continue;
      }
      const auto next = at.branch++ == 0 ? node.yes : node.no;
      if (!done_[next] && place[next] != not_placed)
        return false;
      path.push_back({next, 0});
    }
    return true;
  }

  explicit placing(std::size_t nodes) : place(nodes, not_placed), done_(nodes, false) {}

private:
  std::vector<bool> done_;
};

// >= and > are < and <= with the branches exchanged, != is ==; NaN has to keep its branch.
template <class T>
typename forest<T>::node packed(const written_forest::node& from,
                                const std::vector<std::uint32_t>& place) {
  typename forest<T>::node made{static_cast<T>(from.value),
                                static_cast<std::uint32_t>(from.feature), place[from.yes],
                                place[from.no]};
  const bool turned =
      from.mode == branch::gte || from.mode == branch::gt || from.mode == branch::neq;
  if (turned)
    std::swap(made.yes, made.no);
  // A comparison with NaN is false, except !=.
  const bool missing_true = from.missing_is_true || from.mode == branch::neq;
  if (missing_true != turned)
    made.feature |= forest<T>::missing;
  if (from.mode == branch::eq || from.mode == branch::neq)
    made.feature |= forest<T>::equal;
  if (from.mode == branch::lt || from.mode == branch::gte)
    made.feature |= forest<T>::strict;
  return made;
}

template <class T>
void add_votes(forest<T>& to, const written_forest& from, const placing& at) {
  to.first_vote.assign(to.nodes.size() + 1, 0);
  const auto placed = [&](const written_forest::vote& vote) {
    return at.place[vote.node] != not_placed && from.nodes[vote.node].mode == branch::leaf;
  };
  for (const auto& vote : from.votes)
    if (placed(vote))
      ++to.first_vote[at.place[vote.node] + 1];
  for (std::size_t i = 1; i < to.first_vote.size(); ++i)
    to.first_vote[i] += to.first_vote[i - 1];
  to.votes.resize(to.first_vote.back());
  auto next = to.first_vote;
  for (const auto& vote : from.votes)
    if (placed(vote))
      to.votes[next[at.place[vote.node]]++] = {static_cast<std::uint32_t>(vote.target),
                                               static_cast<T>(vote.weight)};
}

} // namespace

template <class T>
tl::expected<forest<T>, std::string> pack_forest(const written_forest& from, std::int64_t features,
                                                 std::int64_t targets) {
  if (from.nodes.size() >= open || from.votes.size() >= open)
    return decline("{} nodes", from.nodes.size());
  if (features < 1 || features > forest<T>::feature_mask)
    return decline("{} features", features);
  placing at{from.nodes.size()};
  forest<T> made;
  for (const auto root : from.roots) {
    if (!at.add_tree(from, root))
      return decline("a tree leads back to itself");
    made.roots.push_back(at.place[root]);
  }
  std::uint32_t flags = 0;
  std::uint32_t common = ~std::uint32_t{0};
  for (const auto index : at.order) {
    const auto& node = from.nodes[index];
    if (node.mode == branch::leaf) {
      const auto here = static_cast<std::uint32_t>(made.nodes.size());
      made.nodes.push_back({0, 0, here, here});
      continue;
    }
    if (node.feature < 0 || node.feature >= features)
      return decline("a node compares feature {} of {}", node.feature, features);
    made.nodes.push_back(packed<T>(node, at.place));
    flags |= made.nodes.back().feature;
    common &= made.nodes.back().feature;
  }
  for (const auto& vote : from.votes)
    if (vote.target < 0 || vote.target >= targets)
      return decline("a vote for target {} of {}", vote.target, targets);
  using kind = typename forest<T>::kind;
  flags &= ~forest<T>::feature_mask;
  if (flags == forest<T>::strict && (common & forest<T>::strict) != 0)
    made.comparisons = kind::lt;
  else
    made.comparisons = flags == 0 ? kind::leq : kind::mixed;
  if (made.comparisons == kind::lt)
    for (auto& node : made.nodes)
      node.feature &= forest<T>::feature_mask;
  add_votes(made, from, at);
  return made;
}

template tl::expected<forest<float>, std::string> pack_forest(const written_forest&, std::int64_t,
                                                              std::int64_t);
template tl::expected<forest<double>, std::string> pack_forest(const written_forest&, std::int64_t,
                                                               std::int64_t);

namespace {

template <class T, class X, class Goes>
void walk_in_step(const std::vector<typename forest<T>::node>& nodes, std::uint32_t root,
                  const X* x, std::int64_t features, std::size_t rows, std::uint32_t* leaves,
                  const Goes& goes) {
  std::fill_n(leaves, rows, root);
  std::uint32_t moved = 1;
  while (moved != 0) {
    moved = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto& node = nodes[leaves[row]];
      const auto feature = static_cast<std::int64_t>(node.feature & forest<T>::feature_mask);
      const auto value = static_cast<T>(x[static_cast<std::int64_t>(row) * features + feature]);
      const auto next = goes(value, node) ? node.yes : node.no;
      moved |= next ^ leaves[row];
      leaves[row] = next;
    }
  }
}

} // namespace

template <class T>
template <class X>
void forest<T>::walk(std::uint32_t root, const X* x, std::int64_t features, std::size_t rows,
                     std::uint32_t* leaves) const {
  switch (comparisons) {
    case kind::leq:
      walk_in_step<T>(nodes, root, x, features, rows, leaves,
                      [](T value, const node& at) { return value <= at.value; });
      return;
    case kind::lt:
      walk_in_step<T>(nodes, root, x, features, rows, leaves,
                      [](T value, const node& at) { return value < at.value; });
      return;
    case kind::mixed:
      walk_in_step<T>(nodes, root, x, features, rows, leaves, [](T value, const node& at) {
        if (value != value)
          return (at.feature & missing) != 0;
        if ((at.feature & equal) != 0)
          return value == at.value;
        return (at.feature & strict) != 0 ? value < at.value : value <= at.value;
      });
      return;
  }
}

template void forest<float>::walk(std::uint32_t, const float*, std::int64_t, std::size_t,
                                  std::uint32_t*) const;
template void forest<float>::walk(std::uint32_t, const std::int64_t*, std::int64_t, std::size_t,
                                  std::uint32_t*) const;
template void forest<float>::walk(std::uint32_t, const std::int32_t*, std::int64_t, std::size_t,
                                  std::uint32_t*) const;
template void forest<double>::walk(std::uint32_t, const float*, std::int64_t, std::size_t,
                                   std::uint32_t*) const;
template void forest<double>::walk(std::uint32_t, const double*, std::int64_t, std::size_t,
                                   std::uint32_t*) const;
template void forest<double>::walk(std::uint32_t, const std::int64_t*, std::int64_t, std::size_t,
                                   std::uint32_t*) const;
template void forest<double>::walk(std::uint32_t, const std::int32_t*, std::int64_t, std::size_t,
                                   std::uint32_t*) const;

} // namespace troupe::cpu
