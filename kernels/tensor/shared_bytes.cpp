#include "kernels/tensor/shared_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace troupe {

std::shared_ptr<std::byte[]> allocate_aligned(std::size_t bytes) {
  constexpr std::align_val_t alignment{tensor_alignment};
  auto* block = static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment));
  return {block, [](std::byte* memory) { ::operator delete(memory, std::align_val_t{tensor_alignment}); }};
}

shared_bytes copy_of(std::span<const std::byte> source) {
  auto block = allocate_aligned(source.size());
  if (!source.empty())
    std::memcpy(block.get(), source.data(), source.size());
  const std::byte* data = block.get();
  return {std::move(block), {data, source.size()}};
}

} // namespace troupe
