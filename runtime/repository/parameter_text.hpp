#pragma once

// The small notations that `troupe.*` parameters of a configuration use for lists.

#include "kernels/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::repository {

/// The parts of `text` between `by`, without the blanks around them. Nothing of an empty text.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text, char by = ',');

/// A decimal number from `least` to 2^31, and nothing else.
[[nodiscard]] result<std::int64_t> parse_number(std::string_view text, std::int64_t least);

/// "1,2,4": positive numbers. invalid_argument names `key`.
[[nodiscard]] result<std::vector<std::int64_t>> parse_numbers(const std::string& key,
                                                              const std::string& text);

/// "a=1, b=2": names and what is said of them. invalid_argument names `key`, also where a name is
/// given twice.
[[nodiscard]] result<std::vector<std::pair<std::string, std::string>>>
parse_pairs(const std::string& key, const std::string& text);

} // namespace troupe::repository
