#pragma once

#include "kernels/cpu/ml/forest.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

/// How the votes for a target become its score.
enum class aggregation : std::uint8_t { average, sum, min, max };

/// A forest on a matrix [rows, features]. Trees vote in groups whose scores are joined in order:
/// the result is the same to the bit for any number of threads and rows.
template <class T>
struct ensemble {
  forest<T> trees;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t targets = 0;
  aggregation how = aggregation::sum;
  int threads = 1;

  /// Doubles of scratch that `score` needs, the scores first.
  [[nodiscard]] std::size_t scratch() const {
    return static_cast<std::size_t>(rows * targets) * (by_rows() ? 2 : 1 + groups());
  }

  /// scores[rows, targets], the base values not yet added.
  template <class X>
  void score(const X* x, double* scores) const;

private:
  static constexpr std::size_t group = 64;
  static constexpr std::int64_t block = 128; ///< rows for which a tree stays in the cache
  static constexpr std::size_t in_step = 8;

  [[nodiscard]] std::size_t groups() const { return (trees.roots.size() + group - 1) / group; }
  [[nodiscard]] bool by_rows() const { return rows > 16 || threads == 1; }
  [[nodiscard]] double neutral() const {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    return how == aggregation::min ? infinity : how == aggregation::max ? -infinity : 0.0;
  }
  void join(double& into, double vote) const {
    if (how == aggregation::min)
      into = std::min(into, vote);
    else if (how == aggregation::max)
      into = std::max(into, vote);
    else
      into += vote;
  }

  // The votes of a group of trees for the rows [begin, end), into scores that start with `begin`.
  template <class X>
  void vote(std::size_t of, const X* x, std::int64_t begin, std::int64_t end, double* to) const {
    std::fill_n(to, (end - begin) * targets, neutral());
    const auto last = std::min(trees.roots.size(), (of + 1) * group);
    std::uint32_t leaves[in_step];
    for (auto tree = of * group; tree < last; ++tree)
      for (auto row = begin; row < end; row += in_step) {
        const auto count = std::min(in_step, static_cast<std::size_t>(end - row));
        trees.walk(trees.roots[tree], x + row * features, features, count, leaves);
        for (std::size_t i = 0; i < count; ++i) {
          auto* score = to + (row - begin + static_cast<std::int64_t>(i)) * targets;
          for (auto at = trees.first_vote[leaves[i]]; at < trees.first_vote[leaves[i] + 1]; ++at)
            join(score[trees.votes[at].target], static_cast<double>(trees.votes[at].weight));
        }
      }
  }

  void finish(double& score) const {
    if (how == aggregation::average)
      score /= static_cast<double>(std::max<std::size_t>(trees.roots.size(), 1));
    else if (score == neutral() && how != aggregation::sum)
      score = 0; // nobody voted for it
  }
};

template <class T>
template <class X>
void ensemble<T>::score(const X* x, double* scores) const {
  const auto count = rows * targets;
  std::fill_n(scores, count, neutral());
  auto* partial = scores + count;
  const auto cost = static_cast<std::int64_t>(trees.roots.size()) * 16;
  if (by_rows()) {
    parallel_for(threads, rows, cost, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; row += block) {
        const auto last = std::min(end, row + block);
        for (std::size_t of = 0; of < groups(); ++of) {
          vote(of, x, row, last, partial + row * targets);
          for (auto i = row * targets; i < last * targets; ++i)
            join(scores[i], partial[i]);
        }
      }
    });
  } else {
    parallel_for(threads, static_cast<std::int64_t>(groups()),
                 rows * static_cast<std::int64_t>(group) * 16,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto of = begin; of < end; ++of)
                     vote(static_cast<std::size_t>(of), x, 0, rows, partial + of * count);
                 });
    for (std::size_t of = 0; of < groups(); ++of)
      for (std::int64_t i = 0; i < count; ++i)
        join(scores[i], partial[static_cast<std::int64_t>(of) * count + i]);
  }
  for (std::int64_t i = 0; i < count; ++i)
    finish(scores[i]);
}

} // namespace troupe::cpu
