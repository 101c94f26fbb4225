#include "runtime/repository/sequence_config.hpp"

#include "runtime/repository/schema_types.hpp"

#include <algorithm>

namespace troupe::repository {

namespace {

using kind = sequence_config::control::kind;

constexpr std::uint64_t hour_us = 3'600'000'000;

result<duration> time_of(std::uint64_t us, std::string_view what, std::string_view origin) {
  if (us > hour_us)
    return fail(errc::invalid_argument,
                "{}: sequence_batching: {}: expected at most an hour, got {}", origin, what, us);
  return std::chrono::microseconds{us};
}

result<sequence_config::control> flag_of(const schema::SequenceControl& in,
                                         sequence_config::control made, const std::string& where) {
  auto take = [&](const auto& values, dtype type) {
    made.type = type;
    made.no = static_cast<double>(values.Get(0));
    made.yes = static_cast<double>(values.Get(1));
  };
  const auto& whole = in.int32_false_true();
  const auto& real = in.fp32_false_true();
  const auto& flag = in.bool_false_true();
  if (whole.size() + real.size() + flag.size() != 2 || whole.size() == 1 || real.size() == 1)
    return fail(errc::invalid_argument,
                "{}: expected one of int32_false_true, fp32_false_true and bool_false_true, with "
                "two values",
                where);
  if (!whole.empty())
    take(whole, dtype::int32);
  else if (!real.empty())
    take(real, dtype::float32);
  else
    take(flag, dtype::boolean);
  return made;
}

result<sequence_config::control> id_of(const schema::SequenceControl& in,
                                       sequence_config::control made, const std::string& where) {
  const auto type = type_of(in.data_type());
  if (type == dtype::string)
    return fail(errc::unimplemented, "{}: an id of TYPE_STRING is not supported as an input",
                where);
  if (type != dtype::int32 && type != dtype::uint32 && type != dtype::int64
      && type != dtype::uint64)
    return fail(errc::invalid_argument,
                "{}: data_type: expected TYPE_INT32, TYPE_UINT32, TYPE_INT64 or TYPE_UINT64",
                where);
  made.type = *type;
  return made;
}

result<sequence_config::control> control_of(const schema::SequenceControlInput& in,
                                            std::string_view origin) {
  const auto where = fmt::format("{}: sequence_batching: control_input \"{}\"", origin, in.name());
  if (in.name().empty() || in.control_size() != 1)
    return fail(errc::invalid_argument, "{}: expected a name and one control, got {}", where,
                in.control_size());
  const auto& one = in.control(0);
  sequence_config::control made{in.name()};
  switch (one.kind()) {
    case schema::SequenceControl::CONTROL_SEQUENCE_START: made.of = kind::start; break;
    case schema::SequenceControl::CONTROL_SEQUENCE_READY: made.of = kind::ready; break;
    case schema::SequenceControl::CONTROL_SEQUENCE_END: made.of = kind::end; break;
    default: made.of = kind::correlation_id; return id_of(one, std::move(made), where);
  }
  return flag_of(one, std::move(made), where);
}

result<sequence_config::state> state_of(const schema::SequenceState& in, std::string_view origin) {
  const auto where = fmt::format("{}: sequence_batching: state \"{}\"", origin, in.input_name());
  if (in.input_name().empty() || in.output_name().empty())
    return fail(errc::invalid_argument, "{}: expected an input_name and an output_name", where);
  if (in.use_growable_memory())
    return fail(errc::unimplemented, "{}: use_growable_memory is not supported", where);
  sequence_config::state made;
  made.input = in.input_name();
  made.output = in.output_name();
  made.type = type_of(in.data_type());
  if (made.type == dtype::string)
    return fail(errc::unimplemented, "{}: a state of TYPE_STRING is not supported", where);
  made.dims.assign(in.dims().begin(), in.dims().end());
  for (auto size : made.dims)
    if (size < 1)
      return fail(size == -1 ? errc::unimplemented : errc::invalid_argument,
                  "{}: dims: expected sizes of at least 1, got {}", where, size);
  if (in.initial_state_size() > 1)
    return fail(errc::invalid_argument, "{}: expected one initial_state, got {}", where,
                in.initial_state_size());
  if (in.initial_state_size() == 0)
    return made;
  const auto& initial = in.initial_state(0);
  made.initial_file = initial.data_file();
  const auto& file = made.initial_file;
  if (file.find('/') != std::string::npos || file == "." || file == "..")
    return fail(errc::invalid_argument,
                "{}: initial_state: data_file: expected a name below initial_state/, got \"{}\"",
                where, file);
  const auto type = type_of(initial.data_type());
  if ((type && made.type && type != made.type)
      || (initial.dims_size() > 0
          && !std::equal(initial.dims().begin(), initial.dims().end(), made.dims.begin(),
                         made.dims.end())))
    return fail(errc::invalid_argument, "{}: initial_state: expected the state's type and dims",
                where);
  return made;
}

} // namespace

result<sequence_config> sequences_of(const schema::ModelSequenceBatching& in,
                                     std::string_view origin) {
  sequence_config made;
  if (in.iterative_sequence())
    return fail(errc::unimplemented, "{}: sequence_batching: iterative_sequence is not supported",
                origin);
  if (in.max_sequence_idle_microseconds() > 0) {
    auto idle =
        time_of(in.max_sequence_idle_microseconds(), "max_sequence_idle_microseconds", origin);
    if (!idle)
      return propagate(std::move(idle));
    made.max_idle = *idle;
  }
  for (const auto& one : in.control_input()) {
    auto control = control_of(one, origin);
    if (!control)
      return propagate(std::move(control));
    for (const auto& before : made.controls)
      if (before.of == control->of || before.input == control->input)
        return fail(errc::invalid_argument,
                    "{}: sequence_batching: control_input \"{}\": another one has its name or its "
                    "kind",
                    origin, control->input);
    made.controls.push_back(std::move(*control));
  }
  for (const auto& one : in.state()) {
    auto state = state_of(one, origin);
    if (!state)
      return propagate(std::move(state));
    for (const auto& before : made.states)
      if (before.input == state->input || before.output == state->output)
        return fail(errc::invalid_argument,
                    "{}: sequence_batching: state \"{}\": another one has its input or its output",
                    origin, state->input);
    made.states.push_back(std::move(*state));
  }
  if (!in.has_oldest()) {
    made.slot_utilization = static_cast<double>(in.direct().minimum_slot_utilization());
    if (!(made.slot_utilization >= 0 && made.slot_utilization <= 1))
      return fail(errc::invalid_argument,
                  "{}: sequence_batching: minimum_slot_utilization: expected 0 to 1, got {}",
                  origin, made.slot_utilization);
  } else {
    constexpr int most = 1 << 20;
    made.candidates = in.oldest().max_candidate_sequences();
    if (*made.candidates < 1 || *made.candidates > most)
      return fail(errc::invalid_argument,
                  "{}: sequence_batching: max_candidate_sequences: expected 1 to {}, got {}",
                  origin, most, *made.candidates);
    for (auto rows : in.oldest().preferred_batch_size()) {
      if (rows < 1)
        return fail(errc::invalid_argument,
                    "{}: sequence_batching: preferred_batch_size: expected at least 1, got {}",
                    origin, rows);
      made.preferred.push_back(rows);
    }
    made.preserve_ordering = in.oldest().preserve_ordering();
  }
  auto delay = time_of(in.has_oldest() ? in.oldest().max_queue_delay_microseconds()
                                       : in.direct().max_queue_delay_microseconds(),
                       "max_queue_delay_microseconds", origin);
  if (!delay)
    return propagate(std::move(delay));
  made.max_queue_delay = *delay;
  return made;
}

} // namespace troupe::repository
