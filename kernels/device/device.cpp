#include "kernels/device/device.hpp"

#include "kernels/device/memory_budget.hpp"

#include <limits>

namespace troupe {

result<std::unique_ptr<buffer>> device::allocate_host(std::size_t bytes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  return std::make_shared<memory_budget>(properties().name, most)->allocate(bytes);
}

} // namespace troupe
