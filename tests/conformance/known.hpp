#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace troupe::conformance {

/// Cases of a suite that do not pass, each with its reason. The file holds a reason a line, below
/// it the cases it stands for, indented by two spaces; '#' begins a comment.
class known_failures {
public:
  using by_name = std::map<std::string, std::string>;

  /// None of a file that does not exist. Throws std::runtime_error, with the line, on a case
  /// without a reason and on a case that is listed twice.
  [[nodiscard]] static known_failures read(const std::filesystem::path& file);
  void write(const std::filesystem::path& file) const;

  by_name reasons; ///< by case
};

} // namespace troupe::conformance
