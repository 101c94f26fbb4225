#include "actors/staging.hpp"

#include <cstring>
#include <functional>
#include <utility>

namespace troupe::actors {

staging::staging(const placement::program& of, std::int64_t runs) {
  const auto add = [&](auto& to, std::span<const tensor_desc> descs) {
    for (const auto& desc : descs) {
      to.push_back({bytes_, desc.bytes()});
      bytes_ += room_for(desc.bytes() * static_cast<std::size_t>(runs));
    }
  };
  add(inputs_, of.inputs());
  add(outputs_, of.outputs());
}

result<void> staging::send(stream& on, batch_rows& rows, std::byte* block, std::size_t input,
                           std::int64_t run, std::int64_t first, std::byte* to) const {
  auto* const gathered =
      block + inputs_[input].at + static_cast<std::size_t>(run) * inputs_[input].bytes;
  std::size_t filled = 0;
  std::size_t sent = 0;
  const auto flush = [&]() -> result<void> {
    const auto from = std::exchange(sent, filled);
    return filled > from ? on.copy(to + from, gathered + from, filled - from) : result<void>{};
  };
  const auto take = [&](const std::byte* from, std::size_t bytes, bool on_device) -> result<void> {
    if (!on_device) {
      if (bytes > 0)
        std::memcpy(gathered + filled, from, bytes);
      filled += bytes;
      return {};
    }
    if (auto ok = flush(); !ok)
      return ok;
    auto ok = on.copy(to + filled, from, bytes);
    sent = filled += bytes;
    return ok;
  };
  if (auto ok = rows.each_piece(input, first, std::cref(take)); !ok)
    return ok;
  return flush();
}

result<void> staging::fetch(stream& on, std::byte* block, std::size_t output, std::int64_t run,
                            const std::byte* from, std::size_t bytes) const {
  return bytes > 0 ? on.copy(block + output_at(output, run), from, bytes) : result<void>{};
}

} // namespace troupe::actors
