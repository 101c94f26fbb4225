#pragma once

#include "kernels/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::ocr {

/// The classes of a recogniser: class 0 is CTC's blank, then the characters in order, then a space.
class alphabet {
public:
  /// `lines` holds one character (UTF-8) a line, as the model's property `character` has them.
  /// failed_precondition if there is none.
  [[nodiscard]] static result<alphabet> parse(std::string_view lines);

  [[nodiscard]] std::size_t classes() const noexcept { return symbols_.size(); }
  /// UTF-8; empty for the blank.
  [[nodiscard]] const std::string& symbol(std::size_t index) const { return symbols_[index]; }

private:
  std::vector<std::string> symbols_;
};

} // namespace troupe::ocr
