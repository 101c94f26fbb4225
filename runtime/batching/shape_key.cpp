#include "runtime/batching/shape_key.hpp"

namespace troupe::batching {

void shape_key::add(dtype type, std::span<const std::int64_t> dims, bool batched) {
  put(static_cast<std::int64_t>(type));
  put(static_cast<std::int64_t>(dims.size()));
  for (std::size_t axis = batched ? 1 : 0; axis < dims.size(); ++axis)
    put(dims[axis]);
}

// FNV-1a over whole parts: keys are few and compared in full, so spread matters more than strength.
void shape_key::put(std::int64_t part) {
  parts_.push_back(part);
  hash_ = (hash_ ^ static_cast<std::size_t>(part)) * 1099511628211ULL;
}

} // namespace troupe::batching
