#include "kernels/sim/apart_memory.hpp"

#include <utility>

namespace troupe::sim {

/// Known as long as it lives.
class apart_memory::block final : public buffer {
public:
  block(std::shared_ptr<apart_memory> of, std::unique_ptr<buffer> held, side at)
      : of_{std::move(of)}, held_{std::move(held)} {
    const std::lock_guard lock{of_->mutex_};
    of_->blocks_.emplace(held_->data(), range{held_->size(), at});
  }
  ~block() override {
    const std::lock_guard lock{of_->mutex_};
    of_->blocks_.erase(held_->data());
  }

  std::byte* data() const noexcept override { return held_->data(); }
  std::size_t size() const noexcept override { return held_->size(); }

private:
  std::shared_ptr<apart_memory> of_;
  std::unique_ptr<buffer> held_;
};

apart_memory::apart_memory(const std::string& device, std::size_t device_limit,
                           std::size_t host_limit)
    : device_{device}, memories_{std::make_shared<memory_budget>(device, device_limit),
                                 std::make_shared<memory_budget>(device + "'s host memory",
                                                                 host_limit)} {}

result<std::unique_ptr<buffer>> apart_memory::allocate(side of, std::size_t bytes) {
  auto made = memories_[static_cast<int>(of)]->allocate(bytes);
  if (!made)
    return made;
  return std::make_unique<block>(shared_from_this(), *std::move(made), of);
}

std::optional<side> apart_memory::side_of(const std::byte* at, std::size_t bytes) const {
  auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin())
    return std::nullopt;
  const auto& [begin, known] = *--next;
  const auto offset = static_cast<std::size_t>(at - begin);
  if (offset > known.bytes || bytes > known.bytes - offset)
    return std::nullopt;
  return known.of;
}

result<side> apart_memory::count_copy(const std::byte* to, const std::byte* from,
                                      std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  const auto into = side_of(to, bytes);
  const auto out_of = side_of(from, bytes);
  if (!into || !out_of || (*into == side::host && *out_of == side::host))
    return fail(errc::internal,
                "device {}: a copy of {} bytes {}: expected the device's memory on one side at "
                "least, and the device's or its pinned host memory on the other",
                device_, bytes,
                !into     ? "into memory that it does not know"
                : !out_of ? "out of memory that it does not know"
                          : "within the host's memory");
  auto& count = *into == side::host     ? copied_.to_host
                : *out_of == side::host ? copied_.to_device
                                        : copied_.within;
  ++count.copies;
  count.bytes += bytes;
  return *into;
}

bool apart_memory::holds(side of, const std::byte* at, std::size_t bytes) const {
  const std::lock_guard lock{mutex_};
  return side_of(at, bytes) == of;
}

traffic apart_memory::copied() const {
  const std::lock_guard lock{mutex_};
  return copied_;
}

std::size_t apart_memory::held(side of) const noexcept {
  return memories_[static_cast<int>(of)]->used();
}

} // namespace troupe::sim
