#pragma once

#include "apps/ocr/vision/geometry.hpp"
#include "protocol/inference.hpp"
#include "protocol/service.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace troupe::ocr {

/// A line of text that was found.
struct text_line {
  std::string text; ///< UTF-8
  quad box;         ///< in the image as it stands upright
  float score = 0;  ///< confidence, 0 to 1
  std::int32_t image_index = 0;
};

/// What the pipeline takes: `image` BYTES [images], each element a PNG or JPEG file.
[[nodiscard]] std::vector<protocol::tensor_metadata> input_signature();

/// And gives: `text` BYTES [lines], `boxes` FP32 [lines,4,2], `scores` FP32 [lines], `image_index`
/// INT32 [lines]; images in the order they came, lines in reading order.
[[nodiscard]] std::vector<protocol::tensor_metadata> output_signature();

/// The lines as these outputs; only the `wanted` ones, if any are named.
[[nodiscard]] result<std::vector<protocol::named_tensor>>
to_outputs(std::span<const text_line> lines,
           std::span<const protocol::requested_output> wanted = {});

/// The inverse, for clients. invalid_argument if an output is missing or has another form.
[[nodiscard]] result<std::vector<text_line>>
from_outputs(std::span<const protocol::named_tensor> outputs);

} // namespace troupe::ocr
