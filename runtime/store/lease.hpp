#pragma once

#include "kernels/device/device.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe::store {

/// A block of a device's memory on loan: the destructor gives it back. Neither copied nor moved:
/// share it.
class lease {
public:
  using give_back_fn = std::function<void(std::shared_ptr<buffer>)>;

  lease(std::shared_ptr<buffer> block, give_back_fn give_back)
      : block_(std::move(block)), give_back_(std::move(give_back)) {}
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() {
    if (block_ && give_back_)
      give_back_(std::move(block_));
  }

  [[nodiscard]] std::byte* data() const noexcept { return block_->data(); }
  [[nodiscard]] std::size_t size() const noexcept { return block_->size(); }

private:
  std::shared_ptr<buffer> block_;
  give_back_fn give_back_;
};

} // namespace troupe::store
