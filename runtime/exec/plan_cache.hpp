#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/shape.hpp"
#include "runtime/plan/plan.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

namespace troupe::exec {

/// Plans by the dims of a model's inputs, at most `limit` of them; the least recently used leaves,
/// and whoever still runs it keeps it alive. Thread-safe; the lock is never held while a plan is
/// made.
class plan_cache {
public:
  using plan_ptr = std::shared_ptr<const plan::plan>;
  using maker = std::function<result<plan_ptr>()>;

  explicit plan_cache(std::size_t limit) : limit_{limit == 0 ? 1 : limit} {}

  /// The plan for exactly these dims, or null.
  [[nodiscard]] plan_ptr find(std::span<const shape> dims);

  /// The plan for these dims, made by `make` on a miss. Callers with the same dims wait for one of
  /// them to make it; if that fails they all get its error, and a later call tries again. Blocks.
  [[nodiscard]] result<plan_ptr> find_or_make(std::span<const shape> dims, const maker& make);

  [[nodiscard]] std::size_t size() const;

private:
  struct entry {
    std::string key;
    plan_ptr made;
  };
  struct flight {
    bool landed = false;
    result<plan_ptr> outcome;
  };

  plan_ptr find_locked(const std::string& key);
  void keep_locked(const std::string& key, plan_ptr made);

  std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::list<entry> entries_; // most recently used first
  std::unordered_map<std::string, std::list<entry>::iterator> index_;
  std::unordered_map<std::string, std::shared_ptr<flight>> flights_;
};

} // namespace troupe::exec
