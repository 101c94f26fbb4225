#pragma once

// What the direction classifier and the recogniser see of a crop: 48 rows, width in proportion,
// then gray (0 after normalisation) up to the width of the tensor.
//
// Crops batch together only at one width, so widths come in few sizes. The recogniser attends over
// the whole width, gray included, so a crop's answer depends on its width class, which is why it is
// chosen from the crop alone and never from what else is in the batch: an image's text is the same
// whoever shares the server.

#include "apps/ocr/image/image.hpp"
#include "kernels/tensor/tensor.hpp"

#include <span>
#include <vector>

namespace troupe::ocr {

inline constexpr int line_height = 48;
inline constexpr int direction_width = 192;

/// The recogniser's widths, ascending. A longer crop is squeezed into the last.
[[nodiscard]] std::span<const int> recognition_widths() noexcept;

/// The smallest of them that holds the crop at 48 rows.
[[nodiscard]] int recognition_width(const image& crop) noexcept;

/// float32 [crops, 3, 48, width]; a crop longer than `width` is squeezed. No pointer is null.
[[nodiscard]] tensor line_input(std::span<const image* const> crops, int width);

} // namespace troupe::ocr
