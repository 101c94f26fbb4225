#pragma once

#include "kernels/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// A device as people write it: "cpu", "cpu:threads=4", "sim:launch_us=100,row_us=5".
struct device_address {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> options; ///< in the order written
};

/// Splits an address; invalid_argument names the part that is not `key=value`, and a key given
/// twice.
[[nodiscard]] result<device_address> parse_device_address(std::string_view text);

/// A non-negative whole number of at most `limit`; invalid_argument names `key` and what came.
[[nodiscard]] result<std::int64_t> parse_device_number(std::string_view key, std::string_view value,
                                                       std::int64_t limit);

} // namespace troupe
