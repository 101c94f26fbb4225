// ONNX: StringNormalizer-10. Upper and lower case by Unicode's simple mappings, whatever `locale`
// says: a server's answers must not depend on which locales a machine has.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <locale.h>
#include <string>
#include <wctype.h>

namespace troupe::cpu {

namespace {

locale_t unicode() {
  static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return made;
}

/// The code point at the front and its length in bytes; length 1 of what is no UTF-8.
struct point {
  std::uint32_t code = 0;
  std::size_t length = 1;
  bool valid = false;
};

point first_point(std::string_view text) {
  const auto octet = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto lead = octet(0);
  if (lead < 0x80)
    return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return {lead, 1, false};
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((octet(at) & 0xc0) != 0x80)
      return {lead, 1, false};
    code = code << 6 | (octet(at) & 0x3fU);
  }
  return {code, length, true};
}

void append(std::uint32_t code, std::string& to) {
  const auto put = [&](std::uint32_t octet) { to.push_back(static_cast<char>(octet)); };
  if (code < 0x80)
    return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

std::string with_case(std::string_view text, bool upper) {
  std::string made;
  while (!text.empty()) {
    const auto next = first_point(text);
    if (next.valid) {
      const auto code = static_cast<wint_t>(next.code);
      append(static_cast<std::uint32_t>(upper ? towupper_l(code, unicode())
                                              : towlower_l(code, unicode())),
             made);
    } else {
      made.push_back(text.front());
    }
    text.remove_prefix(next.length);
  }
  return made;
}

} // namespace

result<std::vector<datum>> run_string_normalizer(const value_call& of) {
  if (unicode() == locale_t{})
    return fail(errc::unimplemented, "this machine has no locale C.UTF-8");
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  const auto& dims = (*from)->dims;
  if (dims.empty() || dims.size() > 2 || (dims.size() == 2 && dims[0] != 1))
    return fail(errc::invalid_argument, "dims [C] or [1,C] expected, {} found", to_string(dims));
  auto elements = unpack_strings(**from);
  if (!elements)
    return propagate(elements);
  const auto action = of.attributes.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return fail(errc::invalid_argument,
                "case_change_action NONE, LOWER or UPPER expected, {} found", action);
  const bool exact = of.attributes.integer("is_case_sensitive", 0) != 0;
  const auto form = [&](std::string_view text) {
    return exact ? std::string{text} : with_case(text, false);
  };
  std::vector<std::string> stopped;
  for (const auto& word : of.attributes.get<std::vector<std::string>>("stopwords", {}))
    stopped.push_back(form(word));
  std::ranges::sort(stopped);
  std::vector<std::string> kept;
  for (auto element : *elements)
    if (!std::ranges::binary_search(stopped, form(element)))
      kept.push_back(action == "NONE" ? std::string{element}
                                      : with_case(element, action == "UPPER"));
  if (kept.empty())
    kept.emplace_back();
  auto made = pack_strings(kept);
  if (!made)
    return propagate(made);
  if (dims.size() == 2)
    made->dims.insert(made->dims.begin(), 1);
  return std::vector<datum>{*std::move(made)};
}

} // namespace troupe::cpu
