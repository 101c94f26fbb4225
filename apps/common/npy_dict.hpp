#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/shape.hpp"

#include <string>
#include <string_view>

namespace troupe::apps {

/// What the header of a .npy file says.
struct npy_dict {
  std::string descr;
  bool fortran_order = false;
  shape dims;
};

/// Reads a header's text: a Python dict of `descr`, `fortran_order` and `shape`, in the forms that
/// numpy writes. Sizes may be negative or too large: the caller checks. invalid_argument on
/// anything else and on more than 64 axes.
[[nodiscard]] result<npy_dict> parse_npy_dict(std::string_view text);

} // namespace troupe::apps
