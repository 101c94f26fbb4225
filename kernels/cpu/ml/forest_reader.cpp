// Tree ensembles as the attributes of ai.onnx.ml write them. ONNX: TreeEnsembleClassifier-1 to 5,
// TreeEnsembleRegressor-1 to 5, TreeEnsemble-5.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/ml/forest.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace troupe::cpu {

namespace {

constexpr std::array<std::string_view, 7> mode_names{
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"};

const tensor* tensor_in(const attribute_map& attributes, const std::string& name) {
  const auto* plain = attributes.find<tensor>(name);
  return plain != nullptr ? plain : attributes.find<tensor>(name + "_as_tensor");
}

std::vector<double> numbers_of(const tensor& from) {
  std::vector<double> numbers;
  const auto copy = [&](auto tag) {
    for (const auto number : elements_of<typename decltype(tag)::type>(from.data))
      numbers.push_back(static_cast<double>(number));
  };
  if (from.type == dtype::float16)
    for (const auto number : elements_of<half>(from.data))
      numbers.push_back(double{static_cast<float>(number)});
  else
    visit_numeric(from.type, copy);
  return numbers;
}

// The index of a node that is named by its tree and its number in it.
class node_index {
public:
  node_index(const std::vector<std::int64_t>& trees, const std::vector<std::int64_t>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      unique_ = indices_[trees[i]].emplace(ids[i], i).second && unique_;
  }
  [[nodiscard]] bool unique() const noexcept { return unique_; }
  [[nodiscard]] const std::size_t* find(std::int64_t tree, std::int64_t id) const {
    const auto in = indices_.find(tree);
    if (in == indices_.end())
      return nullptr;
    const auto found = in->second.find(id);
    return found == in->second.end() ? nullptr : &found->second;
  }

private:
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::size_t>> indices_;
  bool unique_ = true;
};

bool same_length(std::size_t expected, std::initializer_list<std::size_t> sizes) {
  return std::ranges::all_of(sizes, [&](std::size_t size) { return size == expected; });
}

} // namespace

std::vector<double> reals_in(const attribute_map& attributes, const std::string& name) {
  if (const auto* written = tensor_in(attributes, name))
    return numbers_of(*written);
  const auto plain = attributes.get<std::vector<float>>(name, {});
  return {plain.begin(), plain.end()};
}

bool has_doubles(const attribute_map& attributes, const std::string& name) {
  const auto* written = tensor_in(attributes, name);
  return written != nullptr && written->type == dtype::float64;
}

tl::expected<written_forest, std::string> read_forest(const attribute_map& attributes,
                                                      std::string_view votes) {
  const auto trees = attributes.integers("nodes_treeids");
  const auto ids = attributes.integers("nodes_nodeids");
  const auto features = attributes.integers("nodes_featureids");
  const auto yes = attributes.integers("nodes_truenodeids");
  const auto no = attributes.integers("nodes_falsenodeids");
  const auto modes = attributes.get<std::vector<std::string>>("nodes_modes", {});
  const auto values = reals_in(attributes, "nodes_values");
  auto missing = attributes.integers("nodes_missing_value_tracks_true");
  if (missing.empty())
    missing.assign(ids.size(), 0);
  if (!same_length(ids.size(), {trees.size(), features.size(), yes.size(), no.size(), modes.size(),
                                values.size(), missing.size()}))
    return decline("attributes nodes_… differ in length");
  const node_index index{trees, ids};
  if (!index.unique())
    return decline("two nodes of a tree have the same number");
  written_forest made;
  made.nodes.resize(ids.size());
  std::vector<bool> is_child(ids.size(), false);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto* mode = std::ranges::find(mode_names, modes[i]);
    if (mode == mode_names.end())
      return decline("node mode {}", modes[i]);
    auto& node = made.nodes[i];
    node.mode = static_cast<branch>(mode - mode_names.begin());
    if (node.mode == branch::leaf)
      continue;
    const auto* to_yes = index.find(trees[i], yes[i]);
    const auto* to_no = index.find(trees[i], no[i]);
    if (to_yes == nullptr || to_no == nullptr)
      return decline("node {} of tree {} leads to nodes {} and {}, which are not there", ids[i],
                     trees[i], yes[i], no[i]);
    node.missing_is_true = missing[i] != 0;
    node.feature = features[i];
    node.value = values[i];
    node.yes = *to_yes;
    node.no = *to_no;
    is_child[*to_yes] = is_child[*to_no] = true;
  }
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!is_child[i])
      made.roots.push_back(i);
  const std::string prefix{votes};
  const auto vote_trees = attributes.integers(prefix + "_treeids");
  const auto vote_nodes = attributes.integers(prefix + "_nodeids");
  const auto targets = attributes.integers(prefix + "_ids");
  const auto weights = reals_in(attributes, prefix + "_weights");
  if (!same_length(targets.size(), {vote_trees.size(), vote_nodes.size(), weights.size()}))
    return decline("attributes {}_… differ in length", votes);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto* node = index.find(vote_trees[i], vote_nodes[i]);
    if (node == nullptr)
      return decline("a vote of node {} of tree {}, which is not there", vote_nodes[i],
                     vote_trees[i]);
    made.votes.push_back({*node, targets[i], weights[i]});
  }
  return made;
}

tl::expected<written_forest, std::string> read_tree_ensemble(const attribute_map& attributes) {
  constexpr double member = 6;
  const auto features = attributes.integers("nodes_featureids");
  const auto yes = attributes.integers("nodes_truenodeids");
  const auto no = attributes.integers("nodes_falsenodeids");
  const auto yes_is_leaf = attributes.integers("nodes_trueleafs");
  const auto no_is_leaf = attributes.integers("nodes_falseleafs");
  const auto modes = reals_in(attributes, "nodes_modes");
  const auto values = reals_in(attributes, "nodes_splits");
  const auto targets = attributes.integers("leaf_targetids");
  const auto weights = reals_in(attributes, "leaf_weights");
  const auto members = reals_in(attributes, "membership_values");
  auto missing = attributes.integers("nodes_missing_value_tracks_true");
  if (missing.empty())
    missing.assign(features.size(), 0);
  if (!same_length(features.size(), {yes.size(), no.size(), yes_is_leaf.size(), no_is_leaf.size(),
                                     modes.size(), values.size(), missing.size()})
      || targets.size() != weights.size())
    return decline("attributes nodes_… or leaf_… differ in length");
  written_forest made;
  made.nodes.resize(features.size() + targets.size()); // the leaves behind
  for (std::size_t i = 0; i < targets.size(); ++i)
    made.votes.push_back({features.size() + i, targets[i], weights[i]});
  const auto place = [&](std::int64_t index, bool leaf) -> std::size_t {
    const auto count = leaf ? targets.size() : features.size();
    if (index < 0 || static_cast<std::size_t>(index) >= count)
      return made.nodes.size() + members.size(); // no node is there
    return static_cast<std::size_t>(index) + (leaf ? features.size() : 0);
  };
  auto next_member = members.begin();
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto to_yes = place(yes[i], yes_is_leaf[i] != 0);
    const auto to_no = place(no[i], no_is_leaf[i] != 0);
    if (std::max(to_yes, to_no) >= made.nodes.size())
      return decline("node {} leads to {} and {}, which are not there", i, yes[i], no[i]);
    if (!(modes[i] >= 0 && modes[i] <= member))
      return decline("node mode {}", modes[i]);
    written_forest::node node{branch::eq, missing[i] != 0, features[i], values[i], to_yes, to_no};
    if (modes[i] < member) {
      node.mode = static_cast<branch>(static_cast<int>(modes[i]));
      made.nodes[i] = node;
      continue;
    }
    // One comparison for each member of the set; the last of them leads to the false branch.
    auto at = i;
    for (; next_member != members.end() && !std::isnan(*next_member); ++next_member) {
      node.value = *next_member;
      node.no = made.nodes.size();
      made.nodes[at] = node;
      at = made.nodes.size();
      made.nodes.emplace_back();
    }
    if (next_member == members.end())
      return decline("membership_values has no set for node {}", i);
    ++next_member;
    node.value = std::nan("");
    node.no = to_no;
    made.nodes[at] = node;
  }
  for (const auto root : attributes.integers("tree_roots")) {
    const auto at = place(root, false);
    if (at >= features.size())
      return decline("tree root {} of {} nodes", root, features.size());
    made.roots.push_back(at);
  }
  return made;
}

} // namespace troupe::cpu
