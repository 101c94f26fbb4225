#pragma once

#include <cstddef>

namespace troupe::test {

/// Counts calls of operator new, of all threads, while it lives. One at a time.
class allocation_count {
public:
  allocation_count();
  ~allocation_count();
  allocation_count(const allocation_count&) = delete;
  allocation_count& operator=(const allocation_count&) = delete;

  [[nodiscard]] std::size_t so_far() const noexcept;
};

} // namespace troupe::test
