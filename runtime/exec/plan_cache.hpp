#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/shape.hpp"
#include "runtime/exec/plan_budget.hpp"
#include "runtime/plan/plan.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

namespace troupe::exec {

/// Plans by the dims of a model's inputs, at most `limit` of them and together with other caches no
/// more bytes than `budget` allows; the least recently used leaves, and whoever still runs it keeps
/// it alive. Thread-safe; the lock is never held while a plan is made.
class plan_cache {
public:
  using plan_ptr = std::shared_ptr<const plan::plan>;
  using maker = std::function<result<plan_ptr>()>;

  /// Without a budget bytes do not count.
  explicit plan_cache(std::size_t limit, std::shared_ptr<plan_budget> budget = nullptr);
  ~plan_cache();
  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;

  /// The plan for exactly these dims, or null.
  [[nodiscard]] plan_ptr find(std::span<const shape> dims);

  /// The plan for these dims, made by `make` on a miss. Callers with the same dims wait for one of
  /// them to make it; if that fails they all get its error, and a later call tries again. Blocks.
  [[nodiscard]] result<plan_ptr> find_or_make(std::span<const shape> dims, const maker& make);

  /// Whether `find` would still give this very plan; does not count as a use.
  [[nodiscard]] bool holds(const plan::plan& wanted) const;

  [[nodiscard]] std::size_t size() const;

private:
  friend class plan_budget;

  struct entry {
    std::string key;
    plan_ptr made;
    std::size_t bytes = 0;
    std::uint64_t used = 0; ///< the budget's tick
  };
  struct age {
    std::size_t plans = 0;
    std::uint64_t used = 0;
  };
  struct flight {
    bool landed = false;
    result<plan_ptr> outcome;
  };

  plan_ptr find_locked(const std::string& key);
  void keep_locked(const std::string& key, plan_ptr made);
  plan_ptr drop_oldest_locked();
  [[nodiscard]] age oldest() const;
  void drop_oldest();

  std::size_t limit_;
  std::shared_ptr<plan_budget> budget_;
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::list<entry> entries_; // most recently used first
  std::unordered_map<std::string, std::list<entry>::iterator> index_;
  std::unordered_map<std::string, std::shared_ptr<flight>> flights_;
};

} // namespace troupe::exec
