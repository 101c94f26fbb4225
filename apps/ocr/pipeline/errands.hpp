#pragma once

// One step of the pipeline: many sub-requests to one model, of which few are on their way at once,
// so that a page full of text holds few tensors.

#include "actors/troupe.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::ocr {

/// A sub-request. Both functions run on the pool, `digest` after the model answered; they may run
/// beside those of other errands, so each touches only what is its own. What they throw fails the
/// step.
struct errand {
  std::function<tensor()> prepare;
  std::function<result<void>(const tensor&)> digest;
};

/// A model with one input and one output that matter.
struct network {
  std::string name;
  std::string input;
  std::string output;
};

/// Runs all errands as part of `parent`, which also keeps alive whatever they refer to, at most
/// `at_once` of them at a time, then `done` on the stage's thread, once: with the first failure,
/// after which no further errand starts; with cancelled if the parent is; else with success. Never
/// calls `done` before it returns, unless there are no errands. Call on the stage's thread.
void run_errands(stage_context& context, std::shared_ptr<const job> parent, const network& with,
                 std::vector<errand> errands, std::size_t at_once,
                 std::function<void(stage_context&, result<void>)> done);

} // namespace troupe::ocr
