#pragma once

#include "kernels/op/attributes.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::cpu {

/// How a node of a decision tree compares a feature with its value.
enum class branch : std::uint8_t { leq, lt, gte, gt, eq, neq, leaf };

/// A tree ensemble as written: nodes that refer to each other by index.
struct written_forest {
  struct node {
    branch mode = branch::leaf;
    bool missing_is_true = false; ///< NaN takes the true branch
    std::int64_t feature = 0;
    double value = 0;
    std::size_t yes = 0; ///< the true branch
    std::size_t no = 0;
  };
  struct vote {
    std::size_t node = 0; ///< a leaf
    std::int64_t target = 0;
    double weight = 0;
  };
  std::vector<node> nodes;
  std::vector<std::size_t> roots;
  std::vector<vote> votes;
};

/// Of the attributes that TreeEnsembleClassifier (`votes` "class") and TreeEnsembleRegressor
/// ("target") of versions 1 to 5 share; the reason when they are at odds.
[[nodiscard]] tl::expected<written_forest, std::string> read_forest(const attribute_map& attributes,
                                                                    std::string_view votes);

/// Of the attributes of TreeEnsemble-5.
[[nodiscard]] tl::expected<written_forest, std::string>
read_tree_ensemble(const attribute_map& attributes);

/// FLOATS attribute `name`, or the numbers in TENSOR attribute `name`_as_tensor or `name` itself.
[[nodiscard]] std::vector<double> reals_in(const attribute_map& attributes,
                                           const std::string& name);
/// Whether these numbers are FP64.
[[nodiscard]] bool has_doubles(const attribute_map& attributes, const std::string& name);

/// A tree ensemble for walking: the nodes of a tree lie behind each other, the true branch first
/// (a walk that takes it stays in the cache line), and a leaf leads to itself, so that several rows
/// can walk in step until all have arrived.
template <class T>
struct forest {
  static constexpr std::uint32_t equal = 1U << 31;   ///< compares with == instead of <=
  static constexpr std::uint32_t strict = 1U << 30;  ///< with <
  static constexpr std::uint32_t missing = 1U << 29; ///< NaN takes the true branch
  static constexpr std::uint32_t feature_mask = missing - 1;

  struct node {
    T value;
    std::uint32_t feature; ///< and flags
    std::uint32_t yes;
    std::uint32_t no;
  };
  struct vote {
    std::uint32_t target;
    T weight;
  };
  enum class kind : std::uint8_t { leq, lt, mixed }; ///< of all nodes; the first two without NaN

  kind comparisons = kind::leq;
  std::vector<node> nodes;
  std::vector<std::uint32_t> roots;
  std::vector<std::uint32_t> first_vote; ///< of each node, one more at the end
  std::vector<vote> votes;

  /// The leaves at which `rows` rows of `x` (at most 8, `features` apart) arrive.
  template <class X>
  void walk(std::uint32_t root, const X* x, std::int64_t features, std::size_t rows,
            std::uint32_t* leaves) const;
};

/// The reason when a node names a feature or target out of range, or its trees have a cycle.
template <class T>
[[nodiscard]] tl::expected<forest<T>, std::string>
pack_forest(const written_forest& from, std::int64_t features, std::int64_t targets);

} // namespace troupe::cpu
