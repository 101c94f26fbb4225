#pragma once

#include "apps/ocr/image/decode.hpp"
#include "apps/ocr/text/ctc.hpp"
#include "apps/ocr/vision/page.hpp"
#include "apps/ocr/vision/text_boxes.hpp"

#include <cstddef>
#include <string>

namespace troupe::ocr {

/// How the pipeline finds its networks and how much it takes on.
struct pipeline_options {
  std::string name = "ocr"; ///< served under this name
  std::string detection = "ocr_det";
  std::string direction = "ocr_cls";
  std::string recognition = "ocr_rec"; ///< its property `character` lists what it can read

  decode_limits images;
  page_options pages;
  box_options boxes;
  reading_options text;
  float min_score = 0.5f;      ///< lines read with less confidence are left out
  float sure_direction = 0.9f; ///< a crop's direction is settled above this probability

  std::size_t max_images = 64; ///< of one request
  std::size_t rows_per_request =
      16;                          ///< crops of one sub-request; at most the models' largest batch
  std::size_t errands_at_once = 4; ///< sub-requests that one request has on their way
  std::size_t max_active_images = 16; ///< decoded at once; a request with more is worked on alone
  std::size_t max_waiting = 1024; ///< requests behind those; further ones are resource_exhausted
};

} // namespace troupe::ocr
