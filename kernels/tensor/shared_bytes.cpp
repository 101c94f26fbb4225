#include "kernels/tensor/shared_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace troupe {
namespace {

// A large block starts at a huge page and asks for such pages: reading weights and activations that
// leave the caches is otherwise held up by the page tables. Only the system's default decides
// whether it gets them.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t alignment_of(std::size_t bytes) {
  return bytes >= huge_page ? huge_page : tensor_alignment;
}

} // namespace

std::shared_ptr<std::byte[]> allocate_aligned(std::size_t bytes) {
  const std::align_val_t alignment{alignment_of(bytes)};
  auto* block = static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment));
#ifdef __linux__
  if (bytes >= huge_page) // advice only: nothing depends on it
    static_cast<void>(madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE));
#endif
  return {block, [alignment](std::byte* memory) { ::operator delete(memory, alignment); }};
}

shared_bytes copy_of(std::span<const std::byte> source) {
  auto block = allocate_aligned(source.size());
  if (!source.empty())
    std::memcpy(block.get(), source.data(), source.size());
  const std::byte* data = block.get();
  return {std::move(block), {data, source.size()}};
}

} // namespace troupe
