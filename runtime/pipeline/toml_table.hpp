#pragma once

// A TOML table whose values are asked for by name and type, so that what is wrong can be said with
// the line, and what nobody asked for is an error. Private to runtime/pipeline; toml++ stays in the
// source file.

#include "kernels/base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::pipeline {

class toml_table {
public:
  [[nodiscard]] static result<toml_table> parse(std::string_view text, const std::string& origin);

  /// The same table, which errors call `what`.
  [[nodiscard]] toml_table named(std::string what) const;

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool is_list(std::string_view key) const;

  /// invalid_argument if it is not there or something else; `_if`: nothing then.
  [[nodiscard]] result<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text_if(std::string_view key) const;
  [[nodiscard]] result<std::string> text_or(std::string_view key, std::string unless_said) const;
  [[nodiscard]] result<std::string> text_or_integer(std::string_view key) const;
  [[nodiscard]] result<double> number(std::string_view key) const;
  [[nodiscard]] result<bool> flag(std::string_view key, bool unless_said) const;
  [[nodiscard]] result<std::int64_t> integer(std::string_view key, std::int64_t least,
                                             std::int64_t most, std::int64_t unless_said) const;
  [[nodiscard]] result<std::vector<std::string>> texts(std::string_view key) const;
  [[nodiscard]] result<std::vector<std::int64_t>> integers(std::string_view key,
                                                           std::int64_t least) const;
  /// A table of strings, in the order of its keys.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::string>>>
  pairs(std::string_view key) const;
  [[nodiscard]] result<toml_table> table(std::string_view key) const;
  /// An array of strings and tables.
  [[nodiscard]] result<std::vector<std::variant<std::string, toml_table>>>
  names_or_tables(std::string_view key) const;

  /// An error about this table.
  [[nodiscard]] tl::unexpected<error> wrong(std::string_view what) const;
  /// Whether every key has been asked for; an error names one that has not.
  [[nodiscard]] result<void> nothing_else() const;

private:
  struct content;
  explicit toml_table(std::shared_ptr<content> held) : held_(std::move(held)) {}

  std::shared_ptr<content> held_;
};

} // namespace troupe::pipeline
