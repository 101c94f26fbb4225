#pragma once

#include "kernels/base/result.hpp"
#include "runtime/capture/record.hpp"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace troupe::capture {

/// Reads a capture record by record. Takes nothing for granted: lines are bounded, numbers are in
/// their ranges, and no more is allocated than the file has bytes for.
class reader {
public:
  /// `from` must outlive the reader.
  explicit reader(std::istream& from) : from_(from) {}

  /// The next record, of which the header is the first; none at the end. invalid_argument names the
  /// line and what is wrong with it. A last line that was cut off is the end, as a crash leaves it.
  [[nodiscard]] result<std::optional<record>> next();

  /// The end was in the middle of a line.
  [[nodiscard]] bool cut_off() const noexcept { return cut_off_; }

private:
  [[nodiscard]] bool read_line();

  std::istream& from_;
  std::string line_;
  std::uint64_t number_ = 0; ///< of the line, from 1
  bool too_long_ = false;
  bool cut_off_ = false;
};

} // namespace troupe::capture
