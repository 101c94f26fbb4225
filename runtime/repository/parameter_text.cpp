#include "runtime/repository/parameter_text.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::repository {

namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

} // namespace

std::vector<std::string> split_list(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(by), text.size());
    parts.emplace_back(without_blanks(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

result<std::int64_t> parse_number(std::string_view text, std::int64_t least) {
  constexpr std::int64_t largest = std::int64_t{1} << 31;
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || at != end || number < least || number > largest)
    return fail(errc::invalid_argument, "expected a number from {} to {}, got \"{}\"", least,
                largest, text);
  return number;
}

result<std::vector<std::int64_t>> parse_numbers(const std::string& key, const std::string& text) {
  std::vector<std::int64_t> made;
  for (const auto& part : split_list(text)) {
    const auto number = parse_number(part, 1);
    if (!number)
      return fail(errc::invalid_argument,
                  "{}: expected positive numbers split by commas, got \"{}\"", key, text);
    made.push_back(*number);
  }
  return made;
}

result<std::vector<std::pair<std::string, std::string>>> parse_pairs(const std::string& key,
                                                                     const std::string& text) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const auto& part : split_list(text)) {
    const auto sign = part.find('=');
    if (sign == std::string::npos)
      return fail(errc::invalid_argument, "{}: expected name=value split by commas, got \"{}\"",
                  key, text);
    std::pair one{std::string{without_blanks(std::string_view{part}.substr(0, sign))},
                  std::string{without_blanks(std::string_view{part}.substr(sign + 1))}};
    if (one.first.empty() || one.second.empty())
      return fail(errc::invalid_argument, "{}: expected name=value split by commas, got \"{}\"",
                  key, text);
    if (std::any_of(made.begin(), made.end(),
                    [&](const auto& before) { return before.first == one.first; }))
      return fail(errc::invalid_argument, "{}: \"{}\" is given twice", key, one.first);
    made.push_back(std::move(one));
  }
  return made;
}

} // namespace troupe::repository
