#pragma once

namespace troupe::actors {

/// While one lives, what is woken on this thread is for any thread: for turns that may take longer
/// than waking somebody else.
class long_turn {
public:
  long_turn() noexcept { ++open_; }
  long_turn(const long_turn&) = delete;
  long_turn& operator=(const long_turn&) = delete;
  ~long_turn() { --open_; }

  [[nodiscard]] static bool open() noexcept { return open_ > 0; }

private:
  static inline thread_local int open_ = 0;
};

} // namespace troupe::actors
