#include "actors/device_work.hpp"

#include "actors/sequence_step.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe::actors {

namespace {

constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

bool is_aligned(const std::byte* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % tensor_alignment == 0;
}

} // namespace

device_work::device_work(batch_ptr of, std::shared_ptr<const placement::program> program,
                         std::int64_t bucket, const device_properties& on)
    : batch_(std::move(of)), program_(std::move(program)), bucket_(bucket),
      host_visible_(on.host_visible) {
  if (bucket_ > 0)
    runs_ = (batch_->rows + bucket_ - 1) / bucket_;
  device_bytes_ = aligned(program_->arena_bytes());
  const auto inputs = program_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_at_.push_back(device_bytes_);
    bool copied = false;
    for (std::int64_t run = 0; run < runs_; ++run)
      copied = copied || !in_place(i, run * bucket_);
    if (copied)
      device_bytes_ += aligned(inputs[i].bytes());
  }
  std::size_t host_bytes = 0;
  for (const auto& output : program_->outputs()) {
    host_at_.push_back(host_bytes);
    host_bytes += aligned(output.bytes() * static_cast<std::size_t>(runs_));
    output_at_.push_back(device_bytes_);
    if (!host_visible_)
      device_bytes_ += aligned(output.bytes());
  }
  host_block_ = allocate_aligned(std::max<std::size_t>(host_bytes, 1));
}

// Where one run's rows lie together and aligned in one job's payload, the model reads them there.
const std::byte* device_work::in_place(std::size_t input, std::int64_t first) const {
  if (!host_visible_)
    return nullptr;
  if (bucket_ == 0) {
    if (!batch_->jobs.front()->run_dims.empty())
      return nullptr;
    const auto& value = batch_->jobs.front()->request.inputs[input].value;
    return is_aligned(value.data.data()) ? value.data.data() : nullptr;
  }
  const auto row_bytes = program_->inputs()[input].bytes()
                         / static_cast<std::size_t>(std::max<std::int64_t>(bucket_, 1));
  std::int64_t begin = 0;
  for (const auto& one : batch_->jobs) {
    const auto end = begin + one->rows;
    if (first >= begin && first + bucket_ <= end && one->run_dims.empty()) {
      const auto* at = one->request.inputs[input].value.data.data()
                       + static_cast<std::size_t>(first - begin) * row_bytes;
      return is_aligned(at) ? at : nullptr;
    }
    begin = end;
  }
  return nullptr;
}

// Rows of a job's input, padded where its length is not the batch's.
tensor device_work::as_it_runs(const job::impl& of, std::size_t input, std::int64_t first,
                               std::int64_t count) {
  const auto& value = of.request.inputs[input].value;
  auto part = bucket_ > 0 ? batching::rows_of(value, first, count) : value;
  if (of.run_dims.empty() || of.run_dims[input] == value.dims)
    return part;
  auto dims = of.run_dims[input];
  if (bucket_ > 0)
    dims[0] = count;
  return padded_.emplace_back(
      batching::resized(part, dims, batch_->model->settings.padding.value_of(input)));
}

// A row that is only there to fill the batch is not ready, where the model can be told.
const tensor* device_work::filler(std::size_t input) const {
  const auto& rules = batch_->model->settings.sequences;
  if (!rules)
    return nullptr;
  const auto at =
      std::find_if(rules->controls.begin(), rules->controls.end(), [&](const auto& one) {
        return one.of == sequences::control::kind::ready && one.input == input;
      });
  return at == rules->controls.end() ? nullptr : &at->no;
}

// Copies the rows of [first, first + bucket) into the lease; what the batch does not fill is padded
// with its last row, whose values are as harmless as any that came.
result<void> device_work::gather(stream& on, std::size_t input, std::int64_t first) {
  const auto& desc = program_->inputs()[input];
  auto* to = lease_->data() + input_at_[input];
  if (bucket_ == 0) {
    const auto value = as_it_runs(*batch_->jobs.front(), input, 0, 0);
    return on.copy(to, value.data.data(), value.data.size());
  }
  const auto row_bytes = desc.bytes() / static_cast<std::size_t>(bucket_);
  if (row_bytes == 0)
    return {};
  std::int64_t begin = 0;
  for (const auto& one : batch_->jobs) {
    const auto end = begin + one->rows;
    const auto from = std::max(first, begin);
    const auto until = std::min(first + bucket_, end);
    if (from < until) {
      const auto bytes = static_cast<std::size_t>(until - from) * row_bytes;
      const auto rows = as_it_runs(*one, input, from - begin, until - from);
      if (auto ok = on.copy(to, rows.data.data(), bytes); !ok)
        return ok;
      to += bytes;
    }
    begin = end;
  }
  const auto* fill = filler(input);
  for (auto row = begin; row < first + bucket_; ++row, to += row_bytes)
    if (auto ok = on.copy(to, fill ? fill->data.data() : to - row_bytes, row_bytes); !ok)
      return ok;
  return {};
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
    const auto* from = !known          ? computed_[state.output].data.data()
                       : host_visible_ ? host_block_.get() + host_at_[state.output]
                                             + static_cast<std::size_t>(first) * bytes
                                       : lease_->data() + output_at_[state.output];
    for (std::int64_t row = 0; row < rows; ++row, from += bytes) {
      const auto& step = *batch_->jobs[static_cast<std::size_t>(first + row)]->step;
      if (auto ok = on.copy(step.state->data() + state.offset, from, bytes); !ok)
        return ok;
    }
  }
  return {};
}

result<void> device_work::one_run(stream& on, std::int64_t run) {
  const auto first = run * bucket_;
  for (std::size_t i = 0; i < program_->inputs().size(); ++i) {
    if (const auto* at = in_place(i, first)) {
      run_->set_input(i, at);
      continue;
    }
    if (auto ok = gather(on, i, first); !ok)
      return ok;
    run_->set_input(i, lease_->data() + input_at_[i]);
  }
  const auto outputs = program_->outputs();
  auto host = [&](std::size_t i) {
    return host_block_.get() + host_at_[i] + static_cast<std::size_t>(run) * outputs[i].bytes();
  };
  for (std::size_t i = 0; i < outputs.size(); ++i)
    run_->set_output(i, host_visible_ ? host(i) : lease_->data() + output_at_[i]);
  if (auto ok = run_->launch(on); !ok)
    return ok;
  if (auto ok = keep_states(on, first); !ok || host_visible_)
    return ok;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (auto ok = on.copy(host(i), lease_->data() + output_at_[i], outputs[i].bytes()); !ok)
      return ok;
  return {};
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
    inputs.push_back(as_it_runs(*batch_->jobs.front(), i, 0, 0));
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
  if (lease_)
    run_->bind(lease_->data());
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
    tensor whole{desc.type, desc.dims, {}};
    if (bucket_ > 0)
      whole.dims[0] = bucket_ * runs_;
    whole.data.owner = host_block_;
    whole.data.view = {host_block_.get() + host_at_[i],
                       desc.bytes() * static_cast<std::size_t>(runs_)};
    made.push_back(std::move(whole));
  }
  return made;
}

} // namespace troupe::actors
