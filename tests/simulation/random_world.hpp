#pragma once

// The whole actor graph under seeded chance: requests, cancellations, deaths, lost work, memory
// that is short, models that come and go, and messages in an order of their own. The same seed does
// the same again.

#include "tests/actors/actor_fixture.hpp"

#include <iosfwd>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

class random_world : public actor_fixture {
public:
  /// `trace`, if given, is told every step.
  explicit random_world(std::uint64_t seed, std::ostream* trace = nullptr);

  /// Does random things, then lets everything come to rest and checks what must hold:
  /// every request was answered exactly once, no unit and no block of memory is lost, bounds were
  /// kept, and whoever comes afterwards is served as if nothing had happened.
  void run();

private:
  [[nodiscard]] std::int64_t below(std::int64_t bound);
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }
  void note(std::string_view what);

  void furnish();
  void do_something();
  void deliver_messages(std::int64_t count);
  void ask(bool harmless);
  void cancel_one();
  void work_a_little();
  void kill_somebody();
  void change_models();
  std::shared_ptr<bool> load();
  void check_bounds();
  void come_to_rest();
  void check_recovery();

  struct request {
    std::weak_ptr<job::impl> held;
    std::string name;
  };

  std::mt19937_64 dice_;
  std::ostream* trace_;
  batching::policy policy_;
  std::int64_t max_batch_ = 256;
  std::int64_t queue_rows_ = 4096;
  std::size_t budget_ = 0;
  std::vector<std::shared_ptr<fake_device>> devices_;
  std::vector<stage_id> mortal_; ///< who may be killed; batchers come and go besides
  std::map<stage_id, std::string> names_;
  std::set<std::shared_ptr<telemetry::probe>> probes_; ///< of every version there has been
  std::vector<request> asked_;
  int versions_ = 0;
};

} // namespace troupe::test
