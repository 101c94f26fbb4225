// ONNX: RegexFullMatch-20. Its patterns are RE2's, which matches in linear time.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <re2/re2.h>

namespace troupe::cpu {

result<std::vector<datum>> run_regex_full_match(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  auto elements = unpack_strings(**from);
  if (!elements)
    return propagate(elements);
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 pattern{of.attributes.text("pattern"), quiet};
  if (!pattern.ok())
    return fail(errc::invalid_argument, "pattern '{}': {}", pattern.pattern(), pattern.error());
  std::vector<std::uint8_t> matched;
  for (auto element : *elements)
    matched.push_back(
        RE2::FullMatch(re2::StringPiece{element.data(), element.size()}, pattern) ? 1 : 0);
  return std::vector<datum>{make_tensor<std::uint8_t>(dtype::boolean, (*from)->dims, matched)};
}

} // namespace troupe::cpu
