#include "kernels/device/memory_budget.hpp"

#include <new>

namespace troupe {

class memory_budget::block final : public buffer {
public:
  block(std::shared_ptr<memory_budget> from, std::shared_ptr<std::byte[]> memory, std::size_t bytes)
      : from_{std::move(from)}, memory_{std::move(memory)}, bytes_{bytes} {}
  ~block() override { from_->used_ -= bytes_; }

  std::byte* data() const noexcept override { return memory_.get(); }
  std::size_t size() const noexcept override { return bytes_; }

private:
  std::shared_ptr<memory_budget> from_;
  std::shared_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

result<std::unique_ptr<buffer>> memory_budget::allocate(std::size_t bytes) {
  auto before = used_.load();
  do {
    if (bytes > limit_ || before > limit_ - bytes)
      return fail(errc::resource_exhausted, "device {}: {} bytes asked for, {} of {} are free",
                  device_, bytes, limit_ - before, limit_);
  } while (!used_.compare_exchange_weak(before, before + bytes));
  try {
    return std::make_unique<block>(shared_from_this(), allocate_aligned(bytes), bytes);
  } catch (const std::bad_alloc&) {
    used_ -= bytes;
    return fail(errc::resource_exhausted, "device {}: the system has no {} bytes left", device_,
                bytes);
  }
}

} // namespace troupe
