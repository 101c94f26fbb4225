#pragma once

// What batches must hold while they run, beside their device: config.pbtxt's rate_limiter
// resources. A batch takes all it needs in one step and holds nothing while it waits, and those who
// want the same resource get it in the order in which they asked: nobody waits for somebody who
// waits, and nobody is overtaken for ever.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::placement {

/// So many units of a resource. `scope` tells apart those of one name on different devices; 0: the
/// one that all devices share.
struct resource_need {
  std::string name;
  std::uint32_t scope = 0;
  std::int64_t count = 1;
};

class resource_pool;

/// A batch's hold on its resources, or its place among those who wait. Gives both back when it
/// goes. Its pool must outlive it.
class resource_claim {
public:
  resource_claim(resource_pool& of, std::vector<resource_need> needs, std::function<void()> freed);
  ~resource_claim();
  resource_claim(const resource_claim&) = delete;
  resource_claim& operator=(const resource_claim&) = delete;

  /// Whether the resources are held, by now or from now on. If not, `freed` is called when it is
  /// worth to ask again: on the thread that frees, without a lock.
  [[nodiscard]] bool take();

private:
  friend class resource_pool;

  resource_pool& pool_;
  std::vector<resource_need> needs_;
  std::function<void()> freed_;
  bool held_ = false;
  bool waits_ = false;
};

/// Thread-safe.
class resource_pool {
public:
  /// There are at least so many units from now on: the largest need of any model, so that each can
  /// run.
  void provide(const resource_need& least);

  /// Units that are not held.
  [[nodiscard]] std::int64_t available(const std::string& name, std::uint32_t scope) const;

private:
  friend class resource_claim;
  using key = std::pair<std::string, std::uint32_t>;

  bool take(resource_claim& claim);
  void leave(resource_claim& claim);
  /// Whether somebody who asked earlier wants one of these too. `mutex_` is held.
  [[nodiscard]] bool behind_others(const resource_claim& claim) const;

  mutable std::mutex mutex_;
  std::map<key, std::int64_t> capacity_;
  std::map<key, std::int64_t> used_;
  std::vector<resource_claim*> waiting_; ///< in the order in which they asked
};

} // namespace troupe::placement
