#include "kernels/op/einsum.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace troupe {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr int first_of_ellipsis = 256;

/// A term such as "ab...c": letters, and where the ellipsis stands among them.
struct term {
  std::string letters;
  std::optional<std::size_t> ellipsis;
};

result<term> parse_term(std::string_view text) {
  term made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_letter(text[at])) {
      made.letters += text[at];
    } else if (text.substr(at).starts_with("...") && !made.ellipsis) {
      made.ellipsis = made.letters.size();
      at += 2;
    } else {
      return fail(errc::invalid_argument, "letters and one ellipsis expected, '{}' found", text);
    }
  }
  return made;
}

// The axes of an ellipsis are numbered from the last, so that those of operands line up.
einsum::labels labels_of(const term& from, std::size_t ellipsis_axes) {
  einsum::labels made(from.letters.begin(), from.letters.end());
  if (from.ellipsis)
    for (std::size_t axis = 0; axis < ellipsis_axes; ++axis)
      made.insert(made.begin() + static_cast<std::ptrdiff_t>(*from.ellipsis),
                  first_of_ellipsis + static_cast<int>(axis));
  return made;
}

result<einsum::labels> explicit_output(std::string_view text, std::size_t ellipsis_axes,
                                       const std::map<int, int>& uses) {
  auto parsed = parse_term(text);
  if (!parsed)
    return propagate(parsed);
  auto made = labels_of(*parsed, ellipsis_axes);
  for (const int label : made)
    if (!uses.contains(label) || std::ranges::count(made, label) != 1)
      return fail(errc::invalid_argument,
                  "an output term of indices once each expected, '{}' found", text);
  return made;
}

einsum::labels implicit_output(std::size_t ellipsis_axes, const std::map<int, int>& uses) {
  einsum::labels made;
  for (auto axis = ellipsis_axes; axis-- > 0;)
    made.push_back(first_of_ellipsis + static_cast<int>(axis));
  for (const auto& [label, count] : uses)
    if (!from_ellipsis(label) && count == 1)
      made.push_back(label);
  return made;
}

} // namespace

result<einsum> parse_einsum(std::string_view equation, std::span<const std::size_t> ranks) {
  std::string text;
  std::ranges::copy_if(equation, std::back_inserter(text), [](char c) { return c != ' '; });
  const auto arrow = text.find("->");
  std::string_view left = std::string_view{text}.substr(0, arrow);
  einsum made;
  std::map<int, int> uses;
  std::size_t ellipsis_axes = 0;
  for (std::size_t operand = 0;; ++operand) {
    const auto comma = left.find(',');
    if (operand >= ranks.size() || (comma == left.npos && operand + 1 < ranks.size()))
      return fail(errc::invalid_argument, "equation '{}': terms for {} operands expected", equation,
                  ranks.size());
    auto parsed = parse_term(left.substr(0, comma));
    if (!parsed)
      return fail(errc::invalid_argument, "equation '{}': {}", equation, parsed.error().text);
    const auto letters = parsed->letters.size();
    if (ranks[operand] < letters || (!parsed->ellipsis && ranks[operand] != letters))
      return fail(errc::invalid_argument, "equation '{}': operand {} of rank {} expected, {} found",
                  equation, operand, letters, ranks[operand]);
    const auto own = ranks[operand] - letters;
    ellipsis_axes = std::max(ellipsis_axes, own);
    made.inputs.push_back(labels_of(*parsed, own));
    for (const int label : made.inputs.back())
      ++uses[label];
    if (comma == left.npos)
      break;
    left.remove_prefix(comma + 1);
  }
  if (arrow == text.npos) {
    made.output = implicit_output(ellipsis_axes, uses);
    return made;
  }
  auto output = explicit_output(std::string_view{text}.substr(arrow + 2), ellipsis_axes, uses);
  if (!output)
    return fail(errc::invalid_argument, "equation '{}': {}", equation, output.error().text);
  made.output = *std::move(output);
  return made;
}

} // namespace troupe
