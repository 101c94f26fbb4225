#include "apps/ocr/pipeline/sheet.hpp"

#include "apps/ocr/vision/crop.hpp"
#include "apps/ocr/vision/direction.hpp"
#include "apps/ocr/vision/line_input.hpp"
#include "apps/ocr/vision/lines.hpp"

#include <algorithm>
#include <utility>

namespace troupe::ocr {

bool snippet::turned() const noexcept {
  return turned_reading && (!upright_reading || turned_reading->score > upright_reading->score);
}

result<void> cut_out(sheet& from, const tensor& map, const box_options& options) {
  if (map.type != dtype::float32 || map.dims.size() != 4 || map.dims[0] != 1 || map.dims[1] != 1)
    return fail(errc::failed_precondition,
                "detection model: expected a map FP32 [1,1,H,W], got {} {}", to_string(map.type),
                to_string(map.dims));
  probability_map values{elements_of<float>(map.data), static_cast<int>(map.dims[3]),
                         static_cast<int>(map.dims[2])};
  const auto& pixels = from.view.pixels;
  auto boxes = find_text_boxes(values, pixels.width, pixels.height, options);
  for (const auto& box : join_neighbours(boxes))
    from.snippets.push_back({box, crop(pixels, box), 0, {}, {}});
  return {};
}

result<void> note_directions(std::span<snippet* const> group, const tensor& output) {
  auto rows = static_cast<std::int64_t>(group.size());
  if (output.type != dtype::float32 || output.dims != shape{rows, 2})
    return fail(errc::failed_precondition,
                "direction model: expected probabilities FP32 [{},2], got {} {}", rows,
                to_string(output.type), to_string(output.dims));
  auto values = elements_of<float>(output.data);
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i]->upside_down = values[2 * i + 1];
  return {};
}

std::vector<attempt> plan_attempts(std::span<sheet> sheets, float sure_direction) {
  std::vector<attempt> attempts;
  for (auto& each : sheets) {
    std::vector<direction_guess> guesses;
    for (const auto& one : each.snippets)
      guesses.push_back({one.upside_down, static_cast<float>(one.pixels.width)});
    auto facings = settle_directions(guesses, sure_direction);
    for (std::size_t i = 0; i < facings.size(); ++i) {
      auto& one = each.snippets[i];
      auto width = recognition_width(one.pixels);
      if (facings[i] != facing::upside_down)
        attempts.push_back({&one, false, width});
      if (facings[i] != facing::upright)
        attempts.push_back({&one, true, width});
    }
  }
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const attempt& a, const attempt& b) { return a.width < b.width; });
  return attempts;
}

tensor draw(std::span<const attempt> group) {
  std::vector<image> turned;
  turned.reserve(group.size());
  std::vector<const image*> crops;
  for (const auto& each : group)
    crops.push_back(each.turn ? &turned.emplace_back(rotated_180(each.of->pixels))
                              : &each.of->pixels);
  return line_input(crops, group.front().width);
}

result<void> note_readings(std::span<const attempt> group, const tensor& output,
                           const alphabet& symbols, const reading_options& options) {
  auto readings = decode_rows(output, symbols, options);
  if (!readings)
    return propagate(std::move(readings));
  if (readings->size() != group.size())
    return fail(errc::failed_precondition, "recognition model: expected {} rows, got {}",
                group.size(), readings->size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    auto& place = group[i].turn ? group[i].of->turned_reading : group[i].of->upright_reading;
    place = std::move((*readings)[i]);
  }
  return {};
}

void add_lines(const sheet& from, std::int32_t image_index, float min_score,
               std::vector<text_line>& lines) {
  std::vector<quad> boxes;
  int balance = 0;
  for (const auto& one : from.snippets) {
    boxes.push_back(one.box);
    balance += one.turned() ? one.pixels.width : -one.pixels.width;
  }
  for (const auto& line : lines_of(boxes, balance > 0))
    for (auto at : line) {
      const auto& one = from.snippets[at];
      const auto& [text, score] = one.turned() ? *one.turned_reading : *one.upright_reading;
      if (!text.empty() && score >= min_score)
        lines.push_back({text, to_original(from.view, one.box), score, image_index});
    }
}

} // namespace troupe::ocr
