#include "actors/sequence_request.hpp"

#include "actors/job.hpp"
#include "runtime/sequences/rules.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe::actors {

namespace {

const protocol::parameter* find(const inference_request& asked, std::string_view key) {
  const auto at = asked.parameters.find(key);
  return at == asked.parameters.end() ? nullptr : &at->second;
}

result<bool> flag(const job::impl& asked, std::string_view key) {
  const auto* said = find(asked.request, key);
  if (!said)
    return false;
  if (const auto* value = std::get_if<bool>(said))
    return *value;
  return fail(errc::invalid_argument, "model {}: parameter {}: expected true or false",
              asked.model->name, key);
}

template <class T>
result<tensor> one_number(const sequences::id_input& to, std::int64_t value) {
  if (std::cmp_less(value, std::numeric_limits<T>::min())
      || std::cmp_greater(value, std::numeric_limits<T>::max()))
    return fail(errc::invalid_argument, "parameter sequence_id: {} does not fit {}, the model's",
                value, to_string(to.type));
  const auto as = static_cast<T>(value);
  return tensor{to.type, to.dims, copy_of(std::as_bytes(std::span{&as, 1}))};
}

result<tensor> id_value(const sequences::id_input& to, const sequences::sequence_id& id) {
  const auto* number = std::get_if<std::int64_t>(&id);
  if (!number)
    return fail(errc::invalid_argument,
                "parameter sequence_id: expected an integer, which the model takes, got {}",
                sequences::to_text(id));
  switch (to.type) {
    case dtype::int32: return one_number<std::int32_t>(to, *number);
    case dtype::uint32: return one_number<std::uint32_t>(to, *number);
    case dtype::uint64: return one_number<std::uint64_t>(to, *number);
    default: return one_number<std::int64_t>(to, *number);
  }
}

} // namespace

std::optional<sequences::sequence_id> sequence_id_of(const inference_request& asked) {
  const auto* said = find(asked, "sequence_id");
  if (!said)
    return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(said); number && *number != 0)
    return *number;
  if (const auto* text = std::get_if<std::string>(said); text && !text->empty())
    return *text;
  return std::nullopt;
}

bool starts_sequence(const inference_request& asked) {
  const auto* start = find(asked, "sequence_start");
  const auto* said = start ? std::get_if<bool>(start) : nullptr;
  return said && *said;
}

result<void> read_step(job::impl& asked) {
  const auto& model = *asked.model;
  auto id = sequence_id_of(asked.request);
  if (!id)
    return fail(errc::invalid_argument,
                "model {}: it keeps state between requests: expected the parameter sequence_id, an "
                "integer other than 0 or a text",
                model.name);
  if (const auto* text = std::get_if<std::string>(&*id);
      text && text->size() > sequences::max_id_bytes)
    return fail(errc::invalid_argument,
                "model {}: parameter sequence_id: expected at most {} bytes, got {}", model.name,
                sequences::max_id_bytes, text->size());
  const auto start = flag(asked, "sequence_start");
  const auto end = start ? flag(asked, "sequence_end") : start;
  if (!end)
    return propagate(end);
  if (asked.rows != 1)
    return fail(errc::invalid_argument,
                "model {}: a step of a sequence has one row (axis 0), got {}", model.name,
                asked.rows);
  asked.step = std::make_unique<sequence_step>(sequence_step{std::move(*id), *start, *end});
  return {};
}

result<void> fill_internal(const job::impl& asked, std::vector<named_tensor>& inputs) {
  const auto& model = *asked.model;
  const auto& rules = *model.settings.sequences;
  const auto set = [&](std::size_t index, tensor value) {
    inputs[index] = {model.io.inputs[index].name, std::move(value), {}};
  };
  for (const auto& one : rules.controls) {
    using kind = sequences::control::kind;
    const bool on = one.of == kind::ready || (one.of == kind::start && asked.step->start)
                    || (one.of == kind::end && asked.step->end);
    set(one.input, on ? one.yes : one.no);
  }
  for (const auto& one : rules.states)
    set(one.input, one.initial);
  if (!rules.id)
    return {};
  auto value = id_value(*rules.id, asked.step->id);
  if (!value)
    return fail(value.error().code, "model {}: {}", model.name, value.error().text);
  set(rules.id->input, std::move(*value));
  return {};
}

void read_states(job::impl& asked) {
  const auto& step = *asked.step;
  if (step.start)
    return;
  for (const auto& one : asked.model->settings.sequences->states) {
    auto& data = asked.request.inputs[one.input].value.data;
    data = {step.state, {step.state->data() + one.offset, one.initial.data.size()}};
  }
}

std::size_t slots_at(const served_model& model, std::size_t placement) {
  const auto instances = model.placements[placement].terms.instances;
  return model.settings.sequences->slots * static_cast<std::size_t>(std::max(1, instances));
}

void enter_sequence(job::impl& asked, std::size_t placement) {
  auto [home, hold] = asked.model->homes->enter(asked.step->id, placement);
  asked.step->generation = home.generation;
  asked.step->hold = std::move(hold);
}

result<std::size_t> home_of(job::impl& asked) {
  const auto home = asked.model->homes->find(asked.step->id);
  if (!home)
    return fail(errc::failed_precondition,
                "model {}: no sequence {} is live: it never began, it ended, was idle for too long "
                "or was lost; begin it with sequence_start",
                asked.model->name, sequences::to_text(asked.step->id));
  asked.step->generation = home->generation;
  return home->placement;
}

} // namespace troupe::actors
