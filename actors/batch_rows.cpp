#include "actors/batch_rows.hpp"

#include "actors/sequence_step.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe::actors {

namespace {

bool is_aligned(const std::byte* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % tensor_alignment == 0;
}

bool is_state(const job::impl& of, const tensor& value) noexcept {
  return of.step && of.step->state && value.data.owner == of.step->state;
}

} // namespace

const std::byte* batch_rows::in_place(std::size_t input, std::int64_t first) const {
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

tensor batch_rows::as_it_runs(const job::impl& of, std::size_t input, std::int64_t first,
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
const tensor* batch_rows::filler(std::size_t input) const {
  const auto& rules = batch_->model->settings.sequences;
  if (!rules)
    return nullptr;
  const auto at =
      std::find_if(rules->controls.begin(), rules->controls.end(), [&](const auto& one) {
        return one.of == sequences::control::kind::ready && one.input == input;
      });
  return at == rules->controls.end() ? nullptr : &at->no;
}

// What the batch does not fill is padded with its last row, whose values are as harmless as any
// that came.
result<void> batch_rows::each_piece(std::size_t input, std::int64_t first, const piece_fn& piece) {
  if (bucket_ == 0) {
    const auto& only = *batch_->jobs.front();
    const auto value = as_it_runs(only, input, 0, 0);
    return piece(value.data.data(), value.data.size(), is_state(only, value));
  }
  const auto row_bytes = program_->inputs()[input].bytes() / static_cast<std::size_t>(bucket_);
  if (row_bytes == 0)
    return {};
  std::int64_t begin = 0;
  const std::byte* last = nullptr;
  bool last_on_device = false;
  for (const auto& one : batch_->jobs) {
    const auto end = begin + one->rows;
    const auto from = std::max(first, begin);
    const auto until = std::min(first + bucket_, end);
    if (from < until) {
      const auto bytes = static_cast<std::size_t>(until - from) * row_bytes;
      const auto rows = as_it_runs(*one, input, from - begin, until - from);
      last = rows.data.data() + bytes - row_bytes;
      last_on_device = is_state(*one, rows);
      if (auto ok = piece(rows.data.data(), bytes, last_on_device); !ok)
        return ok;
    }
    begin = end;
  }
  if (const auto* fill = filler(input)) {
    last = fill->data.data();
    last_on_device = false;
  }
  for (auto row = begin; row < first + bucket_; ++row)
    if (auto ok = piece(last, row_bytes, last_on_device); !ok)
      return ok;
  return {};
}

} // namespace troupe::actors
