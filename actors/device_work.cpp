#include "actors/device_work.hpp"

#include "actors/sequence_step.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace troupe::actors {

device_work::device_work(batch_ptr of, std::shared_ptr<const placement::program> program,
                         std::int64_t bucket, const device_properties& on)
    : batch_(std::move(of)), program_(std::move(program)), bucket_(bucket),
      rows_(*batch_, *program_, bucket) {
  if (bucket_ > 0)
    runs_ = (batch_->rows + bucket_ - 1) / bucket_;
  if (!on.host_visible && program_->outputs_known())
    bytes_[kind::host] = staged_.emplace(*program_, runs_).bytes();
  auto& needed = bytes_[kind::device];
  needed = aligned(program_->arena_bytes());
  const auto inputs = program_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_at_.push_back(needed);
    bool copied = staged_.has_value();
    for (std::int64_t run = 0; run < runs_; ++run)
      copied = copied || !rows_.in_place(i, run * bucket_);
    if (copied)
      needed += room_for(inputs[i].bytes());
  }
  std::size_t host_bytes = 0;
  for (const auto& output : program_->outputs()) {
    host_at_.push_back(host_bytes);
    host_bytes += aligned(output.bytes() * static_cast<std::size_t>(runs_));
    output_at_.push_back(needed);
    if (staged_)
      needed += room_for(output.bytes());
  }
  host_block_ = allocate_aligned(std::max<std::size_t>(host_bytes, 1));
}

std::optional<device_work::kind> device_work::lacks() const noexcept {
  for (const auto of : store::memory_kinds)
    if (bytes_[of] > 0 && !leases_[of])
      return of;
  return std::nullopt;
}

// Copies the rows from `first` on into the lease.
result<void> device_work::gather(stream& on, std::size_t input, std::int64_t first) {
  auto* to = leases_[kind::device]->data() + input_at_[input];
  if (staged_)
    return staged_->send(on, rows_, leases_[kind::host]->data(), input,
                         bucket_ > 0 ? first / bucket_ : 0, first, to);
  const auto copy = [&](const std::byte* from, std::size_t bytes, bool) {
    auto ok = on.copy(to, from, bytes);
    to += bytes;
    return ok;
  };
  return rows_.each_piece(input, first, std::cref(copy));
}

// What the rows of this run leave for the next step of their sequences goes into their blocks.
result<void> device_work::keep_states(stream& on, std::int64_t first) const {
  const auto& rules = batch_->model->settings.sequences;
  if (!rules)
    return {};
  const bool known = program_->outputs_known();
  const auto rows = bucket_ > 0 ? std::min(bucket_, batch_->rows - first) : 1;
  for (const auto& state : rules->states) {
    const auto bytes = state.initial.data.size();
    const auto made =
        known ? program_->outputs()[state.output].bytes() : computed_[state.output].data.size();
    if (made != bytes * static_cast<std::size_t>(std::max<std::int64_t>(bucket_, 1)))
      return fail(
          errc::failed_precondition,
          "state \"{}\": expected {} bytes a row as configured, the model made {} for {} rows",
          batch_->model->io.outputs[state.output].name, bytes, made,
          std::max<std::int64_t>(bucket_, 1));
    const auto* from = !known     ? computed_[state.output].data.data()
                       : !staged_ ? host_block_.get() + host_at_[state.output]
                                        + static_cast<std::size_t>(first) * bytes
                                  : leases_[kind::device]->data() + output_at_[state.output];
    for (std::int64_t row = 0; row < rows; ++row, from += bytes) {
      const auto& step = *batch_->jobs[static_cast<std::size_t>(first + row)]->step;
      if (auto ok = on.copy(step.state->data() + state.offset, from, bytes); !ok)
        return ok;
    }
  }
  return {};
}

// States stay on the device, and rows that only fill the batch are nobody's.
bool device_work::stays(std::size_t output) const {
  return batch_->model->io.outputs[output].internal;
}

std::size_t device_work::wanted_bytes(std::size_t output, std::int64_t run,
                                      std::int64_t count) const {
  const auto bytes = program_->outputs()[output].bytes();
  if (bucket_ == 0)
    return bytes;
  const auto rows = std::min(count * bucket_, batch_->rows - run * bucket_);
  return bytes / static_cast<std::size_t>(bucket_) * static_cast<std::size_t>(rows);
}

result<void> device_work::fetch(stream& on, std::int64_t run) const {
  for (std::size_t i = 0; i < program_->outputs().size(); ++i)
    if (!stays(i))
      if (auto ok = staged_->fetch(on, leases_[kind::host]->data(), i, run,
                                   leases_[kind::device]->data() + output_at_[i],
                                   wanted_bytes(i, run, 1));
          !ok)
        return ok;
  return {};
}

result<void> device_work::one_run(stream& on, std::int64_t run) {
  const auto first = run * bucket_;
  for (std::size_t i = 0; i < program_->inputs().size(); ++i) {
    if (const auto* at = staged_ ? nullptr : rows_.in_place(i, first)) {
      run_->set_input(i, at);
      continue;
    }
    if (auto ok = gather(on, i, first); !ok)
      return ok;
    run_->set_input(i, leases_[kind::device]->data() + input_at_[i]);
  }
  const auto outputs = program_->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    run_->set_output(i, staged_ ? leases_[kind::device]->data() + output_at_[i]
                                : host_block_.get() + host_at_[i]
                                      + static_cast<std::size_t>(run) * outputs[i].bytes());
  if (auto ok = run_->launch(on); !ok)
    return ok;
  if (auto ok = keep_states(on, first); !ok || !staged_)
    return ok;
  return fetch(on, run);
}

// Cutting a batch into its jobs needs the batch axis where it is said to be.
result<void> device_work::check() const {
  if (bucket_ == 0)
    return {};
  const auto& names = batch_->model->io.outputs;
  for (std::size_t i = 0; i < program_->outputs().size(); ++i) {
    const auto& dims = program_->outputs()[i].dims;
    if (dims.empty() || dims[0] != bucket_)
      return fail(errc::failed_precondition,
                  "output \"{}\" has shape {} for {} rows: axis 0 is not the batch, set "
                  "max_batch_size to 0",
                  i < names.size() ? names[i].name : std::to_string(i),
                  to_string(std::span<const std::int64_t>{dims.data(), dims.size()}), bucket_);
  }
  return {};
}

// The one job of a batch that does not batch: what it gives has a size when it is there.
result<void> device_work::compute(stream& on) {
  if (bucket_ != 0)
    return fail(errc::failed_precondition,
                "the model's outputs depend on data: its requests run one by one, set "
                "max_batch_size to 0");
  std::vector<tensor> inputs;
  for (std::size_t i = 0; i < batch_->jobs.front()->request.inputs.size(); ++i)
    inputs.push_back(rows_.as_it_runs(*batch_->jobs.front(), i, 0, 0));
  auto made =
      run_->compute(std::move(inputs), on, [of = batch_->jobs.front()] { return of->over(); });
  if (!made)
    return propagate(made);
  computed_ = *std::move(made);
  return keep_states(on, 0);
}

result<void> device_work::issue(stream& on) {
  if (!program_->outputs_known())
    return compute(on);
  if (auto ok = check(); !ok)
    return ok;
  if (const auto& held = leases_[kind::device])
    run_->bind(held->data());
  for (std::int64_t run = 0; run < runs_; ++run)
    if (auto ok = one_run(on, run); !ok)
      return ok;
  return {};
}

std::vector<tensor> device_work::outputs() const {
  if (!program_->outputs_known())
    return computed_;
  std::vector<tensor> made;
  made.reserve(program_->outputs().size());
  for (std::size_t i = 0; i < program_->outputs().size(); ++i) {
    const auto& desc = program_->outputs()[i];
    auto* const at = host_block_.get() + host_at_[i];
    tensor whole{desc.type, desc.dims, {}};
    if (bucket_ > 0)
      whole.dims[0] = bucket_ * runs_;
    whole.data = {host_block_, {at, desc.bytes() * static_cast<std::size_t>(runs_)}};
    if (staged_ && !stays(i))
      std::memcpy(at, leases_[kind::host]->data() + staged_->output_at(i, 0),
                  wanted_bytes(i, 0, runs_));
    made.push_back(std::move(whole));
  }
  return made;
}

} // namespace troupe::actors
