#include "runtime/pipeline/types.hpp"

#include "kernels/tensor/shape.hpp"

#include <fmt/format.h>

#include <utility>

namespace troupe::pipeline {

std::string to_text(const tensor_signature& of) {
  return of.any_rank ? fmt::format("{} of any rank", to_string(of.type))
                     : fmt::format("{} {}", to_string(of.type), to_string(std::span{of.dims}));
}

bool fits(const tensor_signature& given, const tensor_signature& port,
          std::optional<std::int64_t> rows) {
  if (given.type != port.type)
    return false;
  if (rows && !given.any_rank && given.dims.empty())
    return false;
  if (given.any_rank || port.any_rank)
    return true;
  if (given.dims.size() != port.dims.size())
    return false;
  for (std::size_t axis = 0; axis < port.dims.size(); ++axis) {
    const auto brought = rows && axis == 0 ? *rows : given.dims[axis];
    if (brought >= 0 && port.dims[axis] >= 0 && brought != port.dims[axis])
      return false;
  }
  return true;
}

tensor_signature before_cut(tensor_signature port) {
  if (!port.any_rank && !port.dims.empty())
    port.dims[0] = -1;
  return port;
}

void narrow(tensor_signature& into, const tensor_signature& port) {
  for (std::size_t axis = 0; axis < into.dims.size() && axis < port.dims.size(); ++axis)
    if (into.dims[axis] < 0)
      into.dims[axis] = port.dims[axis];
}

tensor_signature either(tensor_signature one, const tensor_signature& other) {
  if (one.any_rank || other.any_rank || one.dims.size() != other.dims.size()) {
    one.any_rank = true;
    one.dims.clear();
    one.dim_names.clear();
    return one;
  }
  for (std::size_t axis = 0; axis < one.dims.size(); ++axis)
    if (one.dims[axis] != other.dims[axis])
      one.dims[axis] = -1;
  return one;
}

} // namespace troupe::pipeline
