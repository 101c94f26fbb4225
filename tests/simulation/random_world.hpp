#pragma once

// The whole actor graph under seeded chance: requests, cancellations, deaths, lost work, memory
// that is short, models that come and go, and messages in an order of their own. The same seed does
// the same again.

#include "tests/actors/actor_fixture.hpp"

#include <initializer_list>
#include <iosfwd>
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

  /// Does random things, then lets everything come to rest and checks what must hold: every request
  /// was answered exactly once and with its own rows, no unit, resource or block of memory is lost,
  /// bounds were kept, and whoever comes afterwards is served as if nothing had happened.
  void run();

private:
  struct request {
    std::weak_ptr<job::impl> held;
    std::string name;
    std::int64_t rows;
    float value;
    bool hurried;     ///< has a deadline that may pass
    int sequence = 0; ///< of a stateful model: the number of the start that it goes back to
  };

  [[nodiscard]] std::int64_t below(std::int64_t bound);
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }
  template <class Container>
  [[nodiscard]] auto& any_of(Container& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }
  void note(std::string_view what);

  void furnish();
  void do_something();
  void deliver_messages(std::int64_t count);
  /// A harmless request has time enough and comes from somebody who stays.
  void ask(bool harmless, std::int64_t rows = 1, std::uint32_t priority = 1);
  void say_step(request& made, inference_request& asked, bool harmless);
  void cancel_one();
  void work_a_little();
  void kill_somebody();
  void change_models();
  std::shared_ptr<bool> load_next();
  bool compose();
  void check_bounds();
  bool work_all();
  void settle(int steps, duration step);
  void come_to_rest();
  void check_answers();
  void check_sums();
  void check_recovery();
  void check_order();
  void check_waiting();
  void check_end();

  std::mt19937_64 dice_;
  std::ostream* trace_;
  model_spec spec_;
  std::size_t budget_ = 0;        ///< of each device's memory
  std::size_t pinned_budget_ = 0; ///< of the host's for it, where it is not host_visible
  bool needs_resource_ = false;
  bool falls_silent_ = false;                           ///< devices do so
  bool composed_ = false;                               ///< there is a pipeline over the model
  std::vector<std::shared_ptr<work_list>> lists_{work}; ///< of each device
  std::vector<std::shared_ptr<fake_device>> devices_{device};
  std::set<std::shared_ptr<telemetry::probe>> probes_; ///< of every version there has been
  std::set<std::shared_ptr<placement::load>> loads_;
  std::vector<request> asked_;
  std::map<std::int64_t, int> sequences_; ///< the latest start of each id
  int starts_ = 0;
  int versions_ = 0;
};

} // namespace troupe::test
