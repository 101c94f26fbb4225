#pragma once

#include "actors/troupe.hpp"
#include "apps/ocr/pipeline/options.hpp"

namespace troupe::ocr {

/// Serves the pipeline as a model of `in`, named by the options. Its three networks are loaded
/// already; failed_precondition says which is not, or what it lacks. The recogniser's characters
/// are read now: after a reload with another alphabet, register again. Sets
/// OpenCV's number of threads, which is the process's, to one. Any thread.
[[nodiscard]] result<void> register_pipeline(runtime& in, const pipeline_options& options = {});

/// Whether `in` has all three networks, so that `register_pipeline` makes sense.
[[nodiscard]] bool has_networks(const runtime& in, const pipeline_options& options = {});

} // namespace troupe::ocr
