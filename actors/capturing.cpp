#include "actors/capturing.hpp"

#include "actors/complete_inputs.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

std::uint32_t index_of(stage_id device, const commons& shared) {
  const auto at = std::find(shared.devices.begin(), shared.devices.end(), device);
  return static_cast<std::uint32_t>(at - shared.devices.begin());
}

// As they run, without what tells requests of one batch apart.
std::vector<std::pair<dtype, shape>> inputs_of(const job::impl& asked) {
  std::vector<std::pair<dtype, shape>> made;
  for (std::size_t i = 0; i < asked.request.inputs.size(); ++i) {
    const auto& value = asked.request.inputs[i].value;
    auto dims = asked.run_dims.empty() ? value.dims : asked.run_dims[i];
    if (asked.model->io.max_batch_size > 0 && !dims.empty())
      dims[0] = -1;
    made.emplace_back(value.type, std::move(dims));
  }
  return made;
}

// As whoever asks again has to put it: all of it in what protocols carry.
inference_request as_sent(const job::impl& asked) {
  auto made = asked.request;
  made.inputs = inputs_as_sent(asked);
  if (made.priority > 0)
    made.parameters.try_emplace("priority", std::int64_t{made.priority});
  if (made.deadline && *made.deadline > asked.at.accepted)
    made.parameters.try_emplace(
        "timeout",
        std::chrono::ceil<std::chrono::microseconds>(*made.deadline - asked.at.accepted).count());
  return made;
}

} // namespace

result<std::shared_ptr<capture_recorder>>
open_capture(const options& with, const std::vector<std::shared_ptr<troupe::device>>& devices,
             const std::shared_ptr<const clock_source>& clock) {
  using namespace std::chrono;
  capture::header about;
  about.unix_us = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  for (const auto& one : devices)
    about.devices.push_back(
        {one->properties().name, one->properties().kind, one->properties().tickets});
  about.max_requests = with.max_requests;
  about.max_request_bytes = with.max_request_bytes;
  about.default_deadline = with.default_deadline;
  std::optional<payload_bounds> payloads;
  if (with.capture_payloads)
    payloads = payload_bounds{.file_bytes = with.capture_payload_bytes};
  return capture_recorder::open(with.capture_file, clock, about, payloads);
}

capture::model as_captured(const served_model& of, const commons& shared) {
  capture::model made;
  made.name = of.name;
  made.version = of.version;
  made.max_batch = of.io.max_batch_size;
  made.max_queue_rows = of.settings.max_queue_rows;
  made.policy = of.settings.batching;
  made.priorities = of.settings.priorities;
  for (const auto& one : of.placements)
    made.devices.push_back(index_of(one.device, shared));
  return made;
}

void capture_request(const commons& shared, job::impl& asked) {
  const auto& recorder = shared.live->recorder();
  if (!recorder || asked.internal || asked.captured != 0)
    return;
  std::size_t bytes = 0;
  for (const auto& input : asked.request.inputs)
    bytes += input.value.data.size();
  const auto deadline =
      asked.request.deadline ? *asked.request.deadline - asked.at.accepted : duration{0};
  const auto shape = recorder->shape_number(asked.key.hash(), [&] { return inputs_of(asked); });
  asked.captured = recorder->asked({.model = asked.model->captured_as,
                                    .shape = shape,
                                    .rows = asked.rows,
                                    .priority = asked.request.priority,
                                    .deadline = std::max(deadline, duration{0}),
                                    .bytes = bytes},
                                   asked.at.accepted);
  if (recorder->keeps_payloads())
    recorder->keep(asked.captured, as_sent(asked));
}

void capture_run(const commons& shared, const batch& what, std::int64_t rows_run, time_point began,
                 duration took) {
  const auto& recorder = shared.live->recorder();
  if (!recorder || what.jobs.front()->internal)
    return;
  recorder->ran({.model = what.model->captured_as,
                 .device = index_of(what.where->device, shared),
                 .shape = recorder->known_shape(what.shape),
                 .requests = static_cast<std::int64_t>(what.jobs.size()),
                 .rows = what.rows,
                 .run_rows = rows_run,
                 .took = took},
                began);
}

} // namespace troupe::actors
