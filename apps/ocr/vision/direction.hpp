#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace troupe::ocr {

enum class facing : std::uint8_t { upright, upside_down, unsure };

/// What the direction classifier says of a crop.
struct direction_guess {
  float upside_down = 0; ///< probability
  float width = 0;       ///< of the crop; a long line is better evidence than a short one
};

/// Settles the directions of one page's crops. The classifier errs on short and on very long lines,
/// and lines of a page mostly agree: a crop is settled if its probability is above `sure` and the
/// majority of such crops, by width, face the same way. The others are unsure: they are to be read
/// both ways.
[[nodiscard]] std::vector<facing> settle_directions(std::span<const direction_guess> guesses,
                                                    float sure);

} // namespace troupe::ocr
