#include "runtime/pipeline/toml_table.hpp"

#include <toml++/toml.h>

#include <set>

namespace troupe::pipeline {

struct toml_table::content {
  std::shared_ptr<const toml::table> whole; ///< keeps `here` alive
  const toml::table* here = nullptr;
  std::string origin;
  std::string what; ///< what errors call it; empty: the line alone
  std::set<std::string, std::less<>> asked;

  const toml::node* find(std::string_view key) {
    asked.emplace(key);
    return here->get(key);
  }

  [[nodiscard]] tl::unexpected<error> wrong(const toml::node* at, std::string_view text) const {
    const auto line = (at ? *at : static_cast<const toml::node&>(*here)).source().begin.line;
    return fail(errc::invalid_argument, "{}{}: {}{}{}", origin,
                line > 0 ? ":" + std::to_string(line) : "", what, what.empty() ? "" : ": ", text);
  }

  [[nodiscard]] tl::unexpected<error> expected(const toml::node* at, std::string_view key,
                                               std::string_view type) const {
    return wrong(at, at ? fmt::format("{}: expected {}", key, type)
                        : fmt::format("{} is missing: expected {}", key, type));
  }

  [[nodiscard]] std::shared_ptr<content> inner(const toml::table& table) const {
    auto made = std::make_shared<content>();
    made->whole = whole;
    made->here = &table;
    made->origin = origin;
    made->what = what;
    return made;
  }
};

result<toml_table> toml_table::parse(std::string_view text, const std::string& origin) {
  try {
    auto held = std::make_shared<content>();
    held->whole = std::make_shared<const toml::table>(toml::parse(text));
    held->here = held->whole.get();
    held->origin = origin;
    return toml_table{std::move(held)};
  } catch (const toml::parse_error& wrong) {
    return fail(errc::invalid_argument, "{}:{}: {}", origin, wrong.source().begin.line,
                wrong.description());
  }
}

// What has been asked of the table counts for both.
toml_table toml_table::named(std::string what) const {
  auto made = std::make_shared<content>(*held_);
  made->what = std::move(what);
  return toml_table{std::move(made)};
}

bool toml_table::has(std::string_view key) const {
  return held_->find(key) != nullptr;
}

bool toml_table::is_list(std::string_view key) const {
  const auto* at = held_->find(key);
  return at && at->is_array();
}

std::optional<std::string> toml_table::text_if(std::string_view key) const {
  const auto* at = held_->find(key);
  const auto* text = at ? at->as_string() : nullptr;
  return text ? std::optional{text->get()} : std::nullopt;
}

result<std::string> toml_table::text(std::string_view key) const {
  auto found = text_if(key);
  if (!found || found->empty())
    return held_->expected(held_->find(key), key, "a string that is not empty");
  return std::move(*found);
}

result<std::string> toml_table::text_or(std::string_view key, std::string unless_said) const {
  return has(key) ? text(key) : result<std::string>{std::move(unless_said)};
}

result<std::string> toml_table::text_or_integer(std::string_view key) const {
  const auto* at = held_->find(key);
  if (const auto* number = at ? at->as_integer() : nullptr)
    return std::to_string(number->get());
  return text(key);
}

result<double> toml_table::number(std::string_view key) const {
  const auto* at = held_->find(key);
  if (at && at->is_integer())
    return static_cast<double>(at->as_integer()->get());
  if (at && at->is_floating_point())
    return at->as_floating_point()->get();
  return held_->expected(at, key, "a number");
}

result<bool> toml_table::flag(std::string_view key, bool unless_said) const {
  const auto* at = held_->find(key);
  if (!at)
    return unless_said;
  if (!at->is_boolean())
    return held_->expected(at, key, "true or false");
  return at->as_boolean()->get();
}

result<std::int64_t> toml_table::integer(std::string_view key, std::int64_t least,
                                         std::int64_t most, std::int64_t unless_said) const {
  const auto* at = held_->find(key);
  if (!at)
    return unless_said;
  const auto* number = at->as_integer();
  if (!number || number->get() < least || number->get() > most)
    return held_->expected(at, key, fmt::format("a number from {} to {}", least, most));
  return number->get();
}

result<std::vector<std::string>> toml_table::texts(std::string_view key) const {
  const auto* at = held_->find(key);
  const auto* list = at ? at->as_array() : nullptr;
  if (!list || list->empty())
    return held_->expected(at, key, "an array of strings that is not empty");
  std::vector<std::string> made;
  for (const auto& one : *list) {
    if (!one.is_string() || one.as_string()->get().empty())
      return held_->expected(&one, key, "strings that are not empty");
    made.push_back(one.as_string()->get());
  }
  return made;
}

result<std::vector<std::int64_t>> toml_table::integers(std::string_view key,
                                                       std::int64_t least) const {
  const auto* at = held_->find(key);
  const auto* list = at ? at->as_array() : nullptr;
  if (!list)
    return held_->expected(at, key, "an array of numbers");
  std::vector<std::int64_t> made;
  for (const auto& one : *list) {
    if (!one.is_integer() || one.as_integer()->get() < least)
      return held_->expected(&one, key, fmt::format("numbers of at least {}", least));
    made.push_back(one.as_integer()->get());
  }
  return made;
}

result<std::vector<std::pair<std::string, std::string>>>
toml_table::pairs(std::string_view key) const {
  const auto* at = held_->find(key);
  const auto* entries = at ? at->as_table() : nullptr;
  if (!entries)
    return held_->expected(at, key, "a table of strings");
  std::vector<std::pair<std::string, std::string>> made;
  for (const auto& [name, value] : *entries) {
    if (!value.is_string() || value.as_string()->get().empty())
      return held_->expected(&value, fmt::format("{}.{}", key, name.str()),
                             "a string that is not empty");
    made.emplace_back(name.str(), value.as_string()->get());
  }
  return made;
}

result<toml_table> toml_table::table(std::string_view key) const {
  const auto* at = held_->find(key);
  const auto* found = at ? at->as_table() : nullptr;
  if (!found)
    return held_->expected(at, key, "a string or a table");
  return toml_table{held_->inner(*found)};
}

result<std::vector<std::variant<std::string, toml_table>>>
toml_table::names_or_tables(std::string_view key) const {
  const auto* at = held_->find(key);
  const auto* list = at ? at->as_array() : nullptr;
  if (!list)
    return held_->expected(at, key, "an array");
  std::vector<std::variant<std::string, toml_table>> made;
  for (const auto& one : *list) {
    if (one.is_string() && !one.as_string()->get().empty())
      made.emplace_back(one.as_string()->get());
    else if (one.is_table())
      made.emplace_back(toml_table{held_->inner(*one.as_table())});
    else
      return held_->expected(&one, key, "names or tables");
  }
  return made;
}

tl::unexpected<error> toml_table::wrong(std::string_view what) const {
  return held_->wrong(nullptr, what);
}

result<void> toml_table::nothing_else() const {
  for (const auto& [key, value] : *held_->here)
    if (!held_->asked.contains(key.str()))
      return held_->wrong(&value, fmt::format("unknown key \"{}\"", key.str()));
  return {};
}

} // namespace troupe::pipeline
