#pragma once

// What actors tell the recorder, where there is one.

#include "actors/batch.hpp"
#include "actors/capture_recorder.hpp"
#include "actors/commons.hpp"

namespace troupe::actors {

/// Begins the capture that the options ask for.
[[nodiscard]] result<std::shared_ptr<capture_recorder>>
open_capture(const options& with, const std::vector<std::shared_ptr<troupe::device>>& devices,
             const std::shared_ptr<const clock_source>& clock);

/// A model as a capture describes it.
[[nodiscard]] capture::model as_captured(const served_model& of, const commons& shared);

/// A request has come to its batcher. Once for each request; warm-ups are not recorded.
void capture_request(const commons& shared, job::impl& asked);

/// A batch has run.
void capture_run(const commons& shared, const batch& what, std::int64_t rows_run, time_point began,
                 duration took);

} // namespace troupe::actors
