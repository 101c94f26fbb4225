#pragma once

// One request on its way through the pipeline. The steps run one after the other; within a step the
// pages or groups of crops run side by side:
//
//   decode      the files, on the pool
//   detect      a sub-request a page; boxes and crops come out of its map
//   classify    groups of crops, to learn which stand upside down
//   recognise   groups of crops of one width; those of unsure direction both ways
//   assemble    the lines in reading order; the answer

#include "apps/ocr/pipeline/answer.hpp"
#include "apps/ocr/pipeline/errands.hpp"
#include "apps/ocr/pipeline/options.hpp"
#include "apps/ocr/text/alphabet.hpp"
#include "apps/ocr/text/ctc.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace troupe::ocr {

/// What all requests share; immutable.
struct equipment {
  pipeline_options options;
  network detection;
  network direction;
  network recognition;
  alphabet symbols;
};

/// Starts on a request whose input `image` is checked: BYTES of rank 1. It is answered exactly
/// once; `leave` is called on the stage's thread when nothing more will be done for it. Call on the
/// stage's thread.
void read_text(stage_context& context, std::shared_ptr<const equipment> with, job request,
               std::function<void(stage_context&)> leave);

} // namespace troupe::ocr
