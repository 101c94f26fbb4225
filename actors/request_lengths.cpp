#include "actors/request_lengths.hpp"

#include <algorithm>
#include <optional>

namespace troupe::actors {

bool left_out(const named_tensor& input) noexcept {
  return !input.value.data.owner && input.value.data.view.empty() && input.value.dims.empty();
}

bool is_mask(const served_model& model, std::size_t input) {
  const auto& lengths = model.settings.padding.lengths;
  return std::any_of(lengths.begin(), lengths.end(),
                     [&](const auto& one) { return one.mask == input; });
}

// All inputs that share a length have it.
result<void> read_lengths(job::impl& asked) {
  const auto& model = *asked.model;
  asked.lengths.clear();
  for (const auto& padded : model.settings.padding.lengths) {
    std::optional<std::int64_t> length;
    for (const auto& [index, axis] : padded.inputs) {
      const auto& input = asked.request.inputs[index];
      if (left_out(input))
        continue;
      const auto size = input.value.dims[axis];
      if (length && *length != size)
        return fail(errc::invalid_argument,
                    "model {}: input \"{}\": axis {} has size {}, another input has the length "
                    "\"{}\" of {}",
                    model.name, input.name, axis, size, padded.name, *length);
      length = size;
    }
    if (!length)
      return fail(errc::invalid_argument, "model {}: no input says the length \"{}\"", model.name,
                  padded.name);
    asked.lengths.push_back(*length);
  }
  return {};
}

bool is_padded(const job::impl& asked) {
  const auto& lengths = asked.model->settings.padding.lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i].bucket(asked.lengths[i]) != asked.lengths[i])
      return true;
  return false;
}

namespace {

// What the inputs are padded to.
void set_run_dims(job::impl& asked) {
  asked.run_dims.clear();
  if (!is_padded(asked))
    return;
  for (const auto& input : asked.request.inputs)
    asked.run_dims.push_back(input.value.dims);
  const auto& lengths = asked.model->settings.padding.lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (const auto& [index, axis] : lengths[i].inputs)
      asked.run_dims[index][axis] = lengths[i].bucket(asked.lengths[i]);
}

} // namespace

void set_key(job::impl& asked) {
  set_run_dims(asked);
  batching::shape_key key;
  for (std::size_t i = 0; i < asked.request.inputs.size(); ++i) {
    const auto& value = asked.request.inputs[i].value;
    key.add(value.type, asked.run_dims.empty() ? value.dims : asked.run_dims[i],
            asked.model->io.max_batch_size > 0);
  }
  asked.key = std::move(key);
}

} // namespace troupe::actors
