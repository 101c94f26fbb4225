#include "actors/check_request.hpp"

#include "actors/complete_inputs.hpp"
#include "actors/request_lengths.hpp"
#include "actors/sequence_request.hpp"
#include "kernels/base/small_vector.hpp"
#include "runtime/exec/client_tensors.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace troupe::actors {

namespace {

std::string names_of(const std::vector<tensor_signature>& of) {
  std::vector<std::string_view> names;
  for (const auto& one : of)
    if (!one.internal)
      names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

result<void> check_dims(const served_model& model, const tensor_signature& declared,
                        const named_tensor& input,
                        std::map<std::string_view, std::int64_t>& symbols) {
  const auto& dims = input.value.dims;
  auto wrong = [&] {
    return fail(errc::invalid_argument, "model {}: input \"{}\": expected shape {}, got {}",
                model.name, input.name, to_string(std::span{declared.dims}),
                to_string(std::span<const std::int64_t>{dims.data(), dims.size()}));
  };
  if (declared.any_rank)
    return {};
  if (dims.size() != declared.dims.size())
    return wrong();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const bool batch_axis = axis == 0 && model.io.max_batch_size > 0;
    if (declared.dims[axis] >= 0 && declared.dims[axis] != dims[axis] && !batch_axis)
      return wrong();
    if (batch_axis || declared.dims[axis] >= 0 || axis >= declared.dim_names.size()
        || declared.dim_names[axis].empty())
      continue;
    const auto [at, fresh] = symbols.try_emplace(declared.dim_names[axis], dims[axis]);
    if (!fresh && at->second != dims[axis])
      return fail(
          errc::invalid_argument,
          "model {}: input \"{}\": axis {} (\"{}\") has size {}, another input has {} there",
          model.name, input.name, axis, at->first, dims[axis], at->second);
  }
  return {};
}

result<void> check_payload(const served_model& model, const tensor_signature& declared,
                           const named_tensor& input) {
  const auto& value = input.value;
  if (value.type != declared.type)
    return fail(errc::invalid_argument, "model {}: input \"{}\": expected datatype {}, got {}",
                model.name, input.name, to_string(declared.type), to_string(value.type));
  const auto elements =
      checked_element_count(std::span<const std::int64_t>{value.dims.data(), value.dims.size()});
  if (!elements)
    return fail(errc::invalid_argument, "model {}: input \"{}\": {}", model.name, input.name,
                elements.error().text);
  const auto bytes = static_cast<std::size_t>(*elements) * size_of(value.type);
  if (value.type != dtype::string && value.data.size() != bytes)
    return fail(errc::invalid_argument,
                "model {}: input \"{}\": shape {} of {} takes {} bytes, got {}", model.name,
                input.name,
                to_string(std::span<const std::int64_t>{value.dims.data(), value.dims.size()}),
                to_string(value.type), bytes, value.data.size());
  return {};
}

// All inputs bring the same number of rows.
result<void> count_rows(job::impl& asked) {
  const auto& model = *asked.model;
  asked.rows = 1;
  if (model.io.max_batch_size <= 0)
    return {};
  const named_tensor* first = nullptr;
  for (const auto& input : asked.request.inputs) {
    if (left_out(input))
      continue;
    const auto rows = input.value.dims[0];
    if (!first) {
      first = &input;
      asked.rows = rows;
    } else if (rows != asked.rows) {
      return fail(errc::invalid_argument,
                  "model {}: input \"{}\" has {} rows, input \"{}\" has {}: axis 0 is the batch",
                  model.name, input.name, rows, first->name, asked.rows);
    }
  }
  // More rows than a batch has are split, up to what the queue holds.
  const auto most = std::max(model.io.max_batch_size, model.settings.max_queue_rows);
  if (asked.rows < 1 || asked.rows > most)
    return fail(errc::invalid_argument, "model {}: expected between 1 and {} rows (axis 0), got {}",
                model.name, most, asked.rows);
  return {};
}

result<void> check_outputs(job::impl& asked) {
  const auto& model = *asked.model;
  asked.postprocess = !model.settings.softmax.empty() || is_padded(asked);
  for (const auto& wanted : asked.request.outputs) {
    const auto& declared = model.io.outputs;
    if (!find_client_tensor(declared, wanted.name))
      return fail(errc::invalid_argument, "model {}: no output \"{}\"; it gives: {}", model.name,
                  wanted.name, names_of(declared));
    if (const auto at = wanted.parameters.find("classification"); at != wanted.parameters.end()) {
      if (is_hosted(model))
        return fail(errc::unimplemented, "model {}: a {} does not classify its outputs", model.name,
                    model.platform);
      const auto* top = std::get_if<std::int64_t>(&at->second);
      if (!top || *top < 1)
        return fail(errc::invalid_argument,
                    "model {}: output \"{}\": parameter classification: expected a number of at "
                    "least 1",
                    model.name, wanted.name);
      asked.postprocess = true;
    }
  }
  return {};
}

// Each to its place; a place that nobody has is an entry without a name.
void put_in_order(std::vector<named_tensor>& inputs, std::span<const std::size_t> places,
                  std::size_t count) {
  if (inputs.size() == count && std::is_sorted(places.begin(), places.end()))
    return; // as most clients send them
  std::vector<named_tensor> ordered(count);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    ordered[places[i]] = std::move(inputs[i]);
  inputs = std::move(ordered);
}

result<void> complete_step(job::impl& asked, bool with_defaults) {
  if (auto ok = read_step(asked); !ok)
    return ok;
  if (auto ok = fill_internal(asked, asked.request.inputs); !ok)
    return ok;
  if (with_defaults)
    return complete_inputs(asked);
  set_key(asked);
  return {};
}

} // namespace

result<checked_request> check_request(job::impl& asked) {
  const auto& model = *asked.model;
  auto& inputs = asked.request.inputs;
  checked_request found;
  small_vector<std::size_t, 8> places; // of each input, in the signature
  std::map<std::string_view, std::int64_t> symbols;
  for (auto& input : inputs) {
    const auto* declared = find_client_tensor(model.io.inputs, input.name);
    if (!declared)
      return fail(errc::invalid_argument, "model {}: no input \"{}\"; it takes: {}", model.name,
                  input.name, names_of(model.io.inputs));
    const auto place = static_cast<std::size_t>(declared - model.io.inputs.data());
    if (std::find(places.begin(), places.end(), place) != places.end())
      return fail(errc::invalid_argument, "model {}: input \"{}\" is given twice", model.name,
                  input.name);
    if (auto ok = check_payload(model, *declared, input); !ok)
      return propagate(std::move(ok));
    if (auto ok = check_dims(model, *declared, input, symbols); !ok)
      return propagate(std::move(ok));
    found.needs_preprocess = found.needs_preprocess || declared->type == dtype::string;
    places.push_back(place);
  }
  put_in_order(inputs, places, model.io.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& declared = model.io.inputs[i];
    if (!inputs[i].name.empty() || declared.internal)
      continue;
    if (!declared.optional && !is_mask(model, i))
      return fail(errc::invalid_argument, "model {}: input \"{}\" is missing; it takes: {}",
                  model.name, declared.name, names_of(model.io.inputs));
    found.needs_preprocess = true;
    inputs[i] = {declared.name, tensor{declared.type, {}, {}}, {}};
  }
  if (auto ok = count_rows(asked); !ok)
    return propagate(std::move(ok));
  if (auto ok = read_lengths(asked); !ok)
    return propagate(std::move(ok));
  if (auto ok = check_outputs(asked); !ok)
    return propagate(std::move(ok));
  if (model.settings.sequences) {
    // No detour for steps, on which one might overtake another.
    auto ok = complete_step(asked, std::exchange(found.needs_preprocess, false));
    if (!ok)
      return propagate(std::move(ok));
  } else if (!found.needs_preprocess)
    set_key(asked);
  return found;
}

} // namespace troupe::actors
