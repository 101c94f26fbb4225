#include "kernels/device/weight_cache.hpp"

#include <algorithm>

namespace troupe {

result<shared_bytes> weight_cache::find_or_pack(const std::shared_ptr<const tensor>& weight,
                                                std::string_view form, std::size_t bytes,
                                                const fill& pack) {
  const std::lock_guard lock{mutex_};
  auto& of = packed_[weight.get()];
  of.weight = weight;
  auto known = std::ranges::find(of.entries, form, &entry::form);
  if (known != of.entries.end())
    return known->packed;
  auto block = allocate_aligned(bytes);
  const std::span<std::byte> room{block.get(), bytes};
  if (auto packed = pack(room); !packed)
    return propagate(packed);
  of.entries.push_back({std::string{form}, shared_bytes{std::move(block), room}});
  bytes_ += bytes;
  return of.entries.back().packed;
}

std::optional<std::string> weight_cache::pinned_form(const tensor* weight) const {
  const std::lock_guard lock{mutex_};
  auto at = packed_.find(weight);
  if (at == packed_.end() || at->second.entries.empty())
    return std::nullopt;
  return at->second.entries.front().form;
}

std::size_t weight_cache::bytes() const noexcept {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

} // namespace troupe
