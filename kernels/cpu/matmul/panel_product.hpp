#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace troupe::cpu {

/// How the columns of a right-hand matrix are cut into panels for a vector of `lanes` floats: two
/// vectors wide, then what is left as one and a half, one or a half, so that 24 columns cost no
/// more than 24 lanes. A panel stores its rows one after the other.
struct panel_plan {
  std::int64_t columns = 0;
  std::int64_t padded = 0; ///< `columns` rounded up to half a vector
  std::vector<std::int64_t> widths;

  panel_plan() = default;
  panel_plan(std::int64_t matrix_columns, std::int64_t lanes) : columns{matrix_columns} {
    const auto half = std::max<std::int64_t>(lanes / 2, 1);
    padded = (columns + half - 1) / half * half;
    for (auto left = padded; left > 0; left -= widths.back())
      widths.push_back(std::min(left, 2 * lanes));
  }
};

} // namespace troupe::cpu
