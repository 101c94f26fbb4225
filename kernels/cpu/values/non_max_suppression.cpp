// ONNX: NonMaxSuppression-10 and -11. Per batch and class, boxes by falling score; one that covers
// too much of a better one is dropped.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::cpu {

namespace {

struct box {
  float top = 0;
  float left = 0;
  float bottom = 0;
  float right = 0;

  [[nodiscard]] float area() const { return (bottom - top) * (right - left); }
};

/// Corners in any order, or centre and size (x, y, width, height).
box read_box(std::span<const float> from, bool centred) {
  if (centred)
    return {from[1] - from[3] / 2, from[0] - from[2] / 2, from[1] + from[3] / 2,
            from[0] + from[2] / 2};
  return {std::min(from[0], from[2]), std::min(from[1], from[3]), std::max(from[0], from[2]),
          std::max(from[1], from[3])};
}

/// Shared area by covered area; 0 where either box is empty.
float overlap(const box& one, const box& other) {
  const auto height = std::min(one.bottom, other.bottom) - std::max(one.top, other.top);
  const auto width = std::min(one.right, other.right) - std::max(one.left, other.left);
  if (height <= 0 || width <= 0 || one.area() <= 0 || other.area() <= 0)
    return 0;
  const auto shared = height * width;
  return shared / (one.area() + other.area() - shared);
}

struct limits {
  std::int64_t most = 0;
  float overlap = 0;
  const float* score = nullptr; ///< null: every score counts
};

result<float> number_in(const value_call& of, std::size_t input) {
  auto from = tensor_in(of, input);
  if (!from)
    return propagate(from);
  if ((*from)->type != dtype::float32 || element_count((*from)->dims) != 1)
    return fail(errc::invalid_argument, "input {}: one FP32 expected, {} of {} found", input,
                to_string((*from)->dims), to_string((*from)->type));
  return elements_of<float>((*from)->data).front();
}

std::vector<std::size_t> selected(std::span<const box> boxes, std::span<const float> scores,
                                  const limits& by) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (by.score != nullptr)
    std::erase_if(order, [&](std::size_t at) { return !(scores[at] > *by.score); });
  std::ranges::stable_sort(
      order, [&](std::size_t left, std::size_t right) { return scores[left] > scores[right]; });
  std::vector<std::size_t> kept;
  for (auto at : order) {
    if (static_cast<std::int64_t>(kept.size()) >= by.most)
      break;
    if (std::ranges::none_of(kept, [&](std::size_t better) {
          return overlap(boxes[at], boxes[better]) > by.overlap;
        }))
      kept.push_back(at);
  }
  return kept;
}

} // namespace

result<std::vector<datum>> run_non_max_suppression(const value_call& of) {
  auto boxes = tensor_in(of, 0);
  auto scores = tensor_in(of, 1);
  if (!boxes || !scores)
    return boxes ? propagate(scores) : propagate(boxes);
  const auto& where = (*boxes)->dims;
  const auto& how = (*scores)->dims;
  if ((*boxes)->type != dtype::float32 || (*scores)->type != dtype::float32 || where.size() != 3
      || how.size() != 3 || where[2] != 4 || where[0] != how[0] || where[1] != how[2])
    return fail(errc::invalid_argument,
                "FP32 boxes [batch,boxes,4] and scores [batch,classes,boxes] expected, {} and {} "
                "found",
                to_string(where), to_string(how));
  limits by;
  if (of.has(2)) {
    auto most = integer_in(of, 2);
    if (!most)
      return propagate(most);
    by.most = *most;
  }
  float score = 0;
  for (std::size_t input : {3U, 4U}) {
    if (!of.has(input))
      continue;
    auto number = number_in(of, input);
    if (!number)
      return propagate(number);
    (input == 3 ? by.overlap : score) = *number;
    if (input == 4)
      by.score = &score;
  }
  const auto centred = of.attributes.integer("center_point_box", 0) != 0;
  const auto corners = elements_of<float>((*boxes)->data);
  const auto all_scores = elements_of<float>((*scores)->data);
  const auto count = static_cast<std::size_t>(where[1]);
  std::vector<std::int64_t> found;
  for (std::int64_t batch = 0; batch < where[0]; ++batch) {
    std::vector<box> here;
    for (std::size_t at = 0; at < count; ++at)
      here.push_back(read_box(
          corners.subspan((static_cast<std::size_t>(batch) * count + at) * 4, 4), centred));
    for (std::int64_t label = 0; label < how[1]; ++label) {
      const auto row = static_cast<std::size_t>(batch * how[1] + label);
      for (auto at : selected(here, all_scores.subspan(row * count, count), by))
        found.insert(found.end(), {batch, label, static_cast<std::int64_t>(at)});
    }
  }
  const std::int64_t dims[] = {static_cast<std::int64_t>(found.size() / 3), 3};
  return std::vector<datum>{make_integers(dims, found)};
}

} // namespace troupe::cpu
