#pragma once

// What is known of one image while it is read, and how each network's answer adds to it. Free of
// the stage: everything here is a function of its arguments.

#include "apps/ocr/pipeline/answer.hpp"
#include "apps/ocr/pipeline/options.hpp"
#include "apps/ocr/text/alphabet.hpp"
#include "apps/ocr/text/ctc.hpp"
#include "apps/ocr/vision/page.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace troupe::ocr {

/// A crop and what it says, read as it is or turned upside down.
struct snippet {
  quad box; ///< in page pixels
  image pixels;
  float upside_down = 0; ///< probability
  std::optional<reading> upright_reading;
  std::optional<reading> turned_reading;

  /// Whether the better reading is the turned one.
  [[nodiscard]] bool turned() const noexcept;
};

struct sheet {
  page view;
  std::vector<snippet> snippets;
};

/// One way of reading a snippet.
struct attempt {
  snippet* of = nullptr;
  bool turn = false;
  int width = 0; ///< of the recogniser's input
};

/// Cuts the boxes of the detector's map, float32 [1,1,H,W], out of the page. failed_precondition if
/// the map has another form.
[[nodiscard]] result<void> cut_out(sheet& from, const tensor& map, const box_options& options);

/// Notes the classifier's answer, float32 [snippets,2]: upright, upside down.
[[nodiscard]] result<void> note_directions(std::span<snippet* const> group, const tensor& output);

/// How the snippets are to be read, after their directions are noted, sorted by width. The pointers
/// are into `sheets`.
[[nodiscard]] std::vector<attempt> plan_attempts(std::span<sheet> sheets, float sure_direction);

/// The recogniser's input for attempts of one width.
[[nodiscard]] tensor draw(std::span<const attempt> group);

/// Notes the recogniser's answer. Two attempts at one snippet may be noted on two threads.
[[nodiscard]] result<void> note_readings(std::span<const attempt> group, const tensor& output,
                                         const alphabet& symbols, const reading_options& options);

/// The lines of a sheet whose snippets are read, in reading order, added to `lines`.
void add_lines(const sheet& from, std::int32_t image_index, float min_score,
               std::vector<text_line>& lines);

} // namespace troupe::ocr
