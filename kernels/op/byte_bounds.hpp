#pragma once

#include "kernels/op/attributes.hpp"
#include "kernels/tensor/dtype.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

// Attributes that passes give to operators whose result is quantised to INT8 or UINT8: what an
// activation in front of the quantisation leaves of the type's range.
inline constexpr std::string_view lowest_byte = "troupe.lowest_byte";
inline constexpr std::string_view highest_byte = "troupe.highest_byte";

/// The least and the greatest result, both within the type's range.
struct byte_bounds {
  std::int32_t lowest = 0;
  std::int32_t highest = 255;

  [[nodiscard]] static byte_bounds of_type(dtype type) noexcept {
    return type == dtype::int8 ? byte_bounds{-128, 127} : byte_bounds{};
  }
  [[nodiscard]] static byte_bounds of(const attribute_map& attributes, dtype type) {
    const auto whole = of_type(type);
    const auto within = [&](std::string_view name, std::int32_t otherwise) {
      const auto said = attributes.integer(name, otherwise);
      return said < whole.lowest    ? whole.lowest
             : said > whole.highest ? whole.highest
                                    : static_cast<std::int32_t>(said);
    };
    return {within(lowest_byte, whole.lowest), within(highest_byte, whole.highest)};
  }

  friend bool operator==(const byte_bounds&, const byte_bounds&) = default;
};

} // namespace troupe
