#include "apps/ocr/text/ctc.hpp"

#include <algorithm>

namespace troupe::ocr {

reading decode_steps(std::span<const float> probabilities, const alphabet& symbols) {
  reading decoded;
  auto classes = symbols.classes();
  std::size_t previous = 0;
  std::size_t kept = 0;
  double sum = 0;
  for (; probabilities.size() >= classes; probabilities = probabilities.subspan(classes)) {
    auto step = probabilities.first(classes);
    auto best = std::max_element(step.begin(), step.end());
    auto index = static_cast<std::size_t>(best - step.begin());
    if (index != 0 && index != previous) {
      decoded.text += symbols.symbol(index);
      sum += *best;
      ++kept;
    }
    previous = index;
  }
  if (kept > 0)
    decoded.score = static_cast<float>(sum / static_cast<double>(kept));
  return decoded;
}

result<std::vector<reading>> decode_rows(const tensor& output, const alphabet& symbols) {
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
    decoded.push_back(decode_steps(values.subspan(static_cast<std::size_t>(i) * row, row), symbols));
  return decoded;
}

} // namespace troupe::ocr
