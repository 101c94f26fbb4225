#include "apps/ocr/text/ctc.hpp"

#include <algorithm>

namespace troupe::ocr {

reading decode_steps(std::span<const float> probabilities, const alphabet& symbols,
                     const reading_options& options) {
  constexpr std::size_t blank = 0;
  const auto classes = symbols.classes();
  const auto space = classes - 1;
  std::string text;
  std::size_t previous = blank;
  std::size_t kept = 0;
  double sum = 0;
  float between = 0; // the likeliest space since the last character
  for (; probabilities.size() >= classes; probabilities = probabilities.subspan(classes)) {
    auto step = probabilities.first(classes);
    auto best = std::max_element(step.begin(), step.end());
    auto index = static_cast<std::size_t>(best - step.begin());
    if (index == blank) {
      between = std::max(between, step[space]);
    } else {
      if (index != previous) {
        if (index != space && between >= options.min_space && !text.empty() && text.back() != ' ')
          text += ' ';
        text += symbols.symbol(index);
        sum += *best;
        ++kept;
      }
      between = 0;
    }
    previous = index;
  }
  reading decoded;
  auto first = text.find_first_not_of(' ');
  if (first != std::string::npos)
    decoded.text = text.substr(first, text.find_last_not_of(' ') + 1 - first);
  if (kept > 0)
    decoded.score = static_cast<float>(sum / static_cast<double>(kept));
  return decoded;
}

result<std::vector<reading>> decode_rows(const tensor& output, const alphabet& symbols,
                                         const reading_options& options) {
  auto classes = static_cast<std::int64_t>(symbols.classes());
  if (output.type != dtype::float32 || output.dims.size() != 3 || output.dims[2] != classes)
    return fail(errc::failed_precondition,
                "recognition model: expected an output FP32 [rows, steps, {}] for {} characters, "
                "got {} {}",
                classes, classes - 2, to_string(output.type), to_string(output.dims));
  auto values = elements_of<float>(output.data);
  auto row = static_cast<std::size_t>(output.dims[1] * output.dims[2]);
  std::vector<reading> decoded;
  for (std::int64_t i = 0; i < output.dims[0]; ++i)
    decoded.push_back(
        decode_steps(values.subspan(static_cast<std::size_t>(i) * row, row), symbols, options));
  return decoded;
}

} // namespace troupe::ocr
