#include "actors/outputs.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace troupe::actors {

namespace {

result<void> check_scores(const tensor& scores, const char* what) {
  if (scores.type != dtype::float32 || scores.dims.empty())
    return fail(errc::invalid_argument, "{}: expected FP32 of at least one axis, got {} {}", what,
                to_string(scores.type),
                to_string(std::span<const std::int64_t>{scores.dims.data(), scores.dims.size()}));
  return {};
}

} // namespace

result<tensor> softmax(const tensor& logits) {
  if (auto ok = check_scores(logits, "softmax"); !ok)
    return propagate(std::move(ok));
  const auto values = elements_of<float>(logits.data);
  const auto width = static_cast<std::size_t>(logits.dims.back());
  auto block = allocate_aligned(logits.data.size());
  auto* to = reinterpret_cast<float*>(block.get());
  for (std::size_t row = 0; width > 0 && row < values.size(); row += width) {
    const auto from = values.subspan(row, width);
    const auto largest = *std::max_element(from.begin(), from.end());
    float sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += to[row + i] = std::exp(from[i] - largest);
    for (std::size_t i = 0; i < width; ++i)
      to[row + i] /= sum;
  }
  const auto* data = block.get();
  return tensor{dtype::float32, logits.dims, {std::move(block), {data, logits.data.size()}}};
}

result<tensor> classify(const tensor& scores, std::int64_t top, std::span<const std::string> labels,
                        bool batched) {
  if (auto ok = check_scores(scores, "classification"); !ok)
    return propagate(std::move(ok));
  const auto values = elements_of<float>(scores.data);
  const auto rows = batched ? static_cast<std::size_t>(scores.dims[0]) : std::size_t{1};
  const auto width = rows > 0 ? values.size() / rows : std::size_t{0};
  const auto kept = std::min(width, static_cast<std::size_t>(top));
  std::vector<std::string> found;
  std::vector<std::size_t> order(width);
  // A NaN ranks last: compared as it is, it would have no place in an order.
  auto rank = [](float value) {
    return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from = values.subspan(row * width, width);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const auto left = rank(from[a]);
                        const auto right = rank(from[b]);
                        return left != right ? left > right : a < b;
                      });
    for (std::size_t i = 0; i < kept; ++i) {
      auto text = fmt::format("{:f}:{}", from[order[i]], order[i]);
      if (order[i] < labels.size())
        text += ":" + labels[order[i]];
      found.push_back(std::move(text));
    }
  }
  auto packed = pack_strings(found);
  if (!packed)
    return packed;
  packed->dims.clear();
  if (batched)
    packed->dims.push_back(static_cast<std::int64_t>(rows));
  packed->dims.push_back(static_cast<std::int64_t>(kept));
  return packed;
}

} // namespace troupe::actors
