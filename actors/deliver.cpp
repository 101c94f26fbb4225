#include "actors/deliver.hpp"

#include "actors/long_turn.hpp"
#include "actors/outputs.hpp"

#include <algorithm>
#include <new>
#include <optional>

namespace troupe::actors {

namespace {

// Answers that cost less than waking a thread.
constexpr std::size_t few = 4;

// What was padded in front of the model is cut off behind it.
result<tensor> cut_back(const job::impl& asked, std::size_t output, tensor value) {
  const auto& lengths = asked.model->settings.padding.lengths;
  auto dims = value.dims;
  for (std::size_t i = 0; i < asked.lengths.size(); ++i) {
    const auto padded = lengths[i].bucket(asked.lengths[i]);
    for (const auto& [index, axis, divisor] : lengths[i].outputs) {
      if (index != output || padded == asked.lengths[i])
        continue;
      const auto expected = (padded + divisor - 1) / divisor;
      if (axis >= dims.size() || dims[axis] != expected)
        return fail(errc::failed_precondition,
                    "expected size {} on axis {} for the length \"{}\" of {}, got shape {}",
                    expected, axis, lengths[i].name, padded,
                    to_string(std::span<const std::int64_t>{dims.data(), dims.size()}));
      dims[axis] = (asked.lengths[i] + divisor - 1) / divisor;
    }
  }
  return dims == value.dims ? value : batching::resized(value, dims, 0);
}

result<named_tensor> output_for(const served_model& model, std::size_t index, tensor value,
                                const protocol::parameter_map& wanted) {
  const auto& declared = model.io.outputs[index];
  const auto& softmaxed = model.settings.softmax;
  if (std::find(softmaxed.begin(), softmaxed.end(), declared.name) != softmaxed.end()) {
    auto probabilities = softmax(value);
    if (!probabilities)
      return propagate(std::move(probabilities));
    value = std::move(*probabilities);
  }
  if (const auto at = wanted.find("classification"); at != wanted.end()) {
    auto classes = classify(value, std::get<std::int64_t>(at->second), declared.labels,
                            model.io.max_batch_size > 0);
    if (!classes)
      return propagate(std::move(classes));
    value = std::move(*classes);
  }
  return named_tensor{declared.name, std::move(value), {}};
}

response_part response_for(const batch_results& results, const job::impl& asked,
                           std::int64_t first) {
  const auto& model = *results.of->model;
  const bool batched = model.io.max_batch_size > 0;
  inference_response answer{model.name, model.version, asked.request.id, {}, {}};
  auto add = [&](std::size_t index, const protocol::parameter_map& wanted) -> result<void> {
    const auto& whole = results.outputs[index];
    auto own = cut_back(asked, index,
                        batched && !whole.dims.empty() ? batching::rows_of(whole, first, asked.rows)
                                                       : whole);
    auto made = own ? output_for(model, index, std::move(*own), wanted)
                    : result<named_tensor>{propagate(std::move(own))};
    if (!made)
      return fail(made.error().code, "model {}: output \"{}\": {}", model.name,
                  model.io.outputs[index].name, made.error().text);
    answer.outputs.push_back(std::move(*made));
    return {};
  };
  if (asked.request.outputs.empty()) {
    for (std::size_t i = 0; i < results.outputs.size(); ++i)
      if (model.io.outputs[i].internal)
        continue;
      else if (auto ok = add(i, {}); !ok)
        return propagate(std::move(ok));
  }
  for (const auto& wanted : asked.request.outputs) {
    const auto at = std::find_if(model.io.outputs.begin(), model.io.outputs.end(),
                                 [&](const auto& one) { return one.name == wanted.name; });
    if (auto ok = add(static_cast<std::size_t>(at - model.io.outputs.begin()), wanted.parameters);
        !ok)
      return propagate(std::move(ok));
  }
  return answer;
}

// What one answer throws is that request's alone.
void answer(job::impl& asked, const batch_results& results, std::int64_t first) {
  try {
    asked.answer(response_for(results, asked, first));
  } catch (const std::bad_alloc&) {
    asked.fail_with(errc::resource_exhausted, "the machine has no memory for the answer");
  } catch (const std::exception& thrown) {
    asked.fail_with(errc::internal, thrown.what());
  }
}

} // namespace

void deliver(const batch_results& results) {
  // Who asks again in an answer need not wait for the answers of the others.
  std::optional<long_turn> many;
  if (results.of->jobs.size() > few)
    many.emplace();
  std::int64_t first = 0;
  for (const auto& asked : results.of->jobs) {
    if (!asked->answered())
      answer(*asked, results, first);
    first += asked->rows;
  }
}

bool needs_postprocess(const batch& of) noexcept {
  return std::any_of(of.jobs.begin(), of.jobs.end(),
                     [](const auto& asked) { return asked->postprocess; });
}

} // namespace troupe::actors
