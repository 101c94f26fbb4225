#include "allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes) {
  if (counting)
    ++allocations;
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes))
    return block;
  throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
// All plain forms together: memory of one must not meet another's sanitizer hook.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return ::operator new(bytes, std::nothrow);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  ::operator delete(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  ::operator delete[](block);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}

namespace troupe::test {

allocation_count::allocation_count() {
  allocations = 0;
  counting = true;
}

allocation_count::~allocation_count() {
  counting = false;
}

std::size_t allocation_count::so_far() const noexcept {
  return allocations;
}

} // namespace troupe::test
