#include "runtime/repository/sequence_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

namespace troupe::repository {

namespace {

using kind = sequence_config::control::kind;

constexpr std::size_t max_state_bytes = std::size_t{1} << 30; // all states of a sequence

result<std::size_t> index_of(const std::vector<tensor_signature>& in, const std::string& name,
                             std::string_view what, const model_folder& of) {
  const auto at =
      std::find_if(in.begin(), in.end(), [&](const auto& one) { return one.name == name; });
  if (at == in.end())
    return fail(errc::invalid_argument, "model {}: sequence_batching: the file has no {} \"{}\"",
                of.name, what, name);
  return static_cast<std::size_t>(at - in.begin());
}

bool listed(const std::vector<tensor_config>& in, const std::string& name) {
  return std::any_of(in.begin(), in.end(), [&](const auto& one) { return one.name == name; });
}

tensor owned(dtype type, shape dims, std::shared_ptr<std::byte[]> block, std::size_t bytes) {
  const auto* data = block.get();
  return {type, std::move(dims), {std::move(block), {data, bytes}}};
}

template <class T>
tensor number(dtype type, const shape& dims, double value) {
  auto block = allocate_aligned(sizeof(T));
  const auto as = static_cast<T>(value);
  std::memcpy(block.get(), &as, sizeof(T));
  return owned(type, dims, std::move(block), sizeof(T));
}

tensor flag(dtype type, const shape& dims, double value) {
  switch (type) {
    case dtype::float32: return number<float>(type, dims, value);
    case dtype::int32: return number<std::int32_t>(type, dims, value);
    default: return number<bool>(type, dims, value);
  }
}

// One element a row.
result<shape> control_dims(const tensor_signature& declared, dtype type, bool batched,
                           const std::string& where) {
  if (declared.type != type)
    return fail(errc::invalid_argument, "{}: the model has {}, the configuration {}", where,
                to_string(declared.type), to_string(type));
  shape dims;
  for (std::size_t axis = 0; axis < declared.dims.size(); ++axis) {
    const auto size = declared.dims[axis];
    if (!(batched && axis == 0) && size != 1 && size != -1)
      return fail(errc::invalid_argument, "{}: expected one element a row, its shape is {}", where,
                  to_string(std::span{declared.dims}));
    dims.push_back(1);
  }
  return dims;
}

// Of at most `room` bytes.
result<tensor> initial_of(const sequence_config::state& said, dtype type, const shape& dims,
                          std::size_t room, const model_folder& of, const std::string& where) {
  const auto elements =
      checked_element_count(std::span<const std::int64_t>{dims.data(), dims.size()},
                            static_cast<std::int64_t>(room / size_of(type)));
  if (!elements)
    return fail(errc::invalid_argument, "{}: {}", where, elements.error().text);
  const auto bytes = static_cast<std::size_t>(*elements) * size_of(type);
  auto block = allocate_aligned(bytes);
  std::memset(block.get(), 0, bytes);
  if (said.initial_file.empty())
    return owned(type, dims, std::move(block), bytes);
  const auto path = of.folder / "initial_state" / said.initial_file;
  std::error_code unreadable;
  const auto size = std::filesystem::file_size(path, unreadable);
  std::ifstream file{path, std::ios::binary};
  if (unreadable || size != bytes
      || !file.read(reinterpret_cast<char*>(block.get()), static_cast<std::streamsize>(bytes)))
    return fail(errc::invalid_argument, "{}: initial_state: expected a file of {} bytes at {}{}",
                where, bytes, path.string(), unreadable ? "" : fmt::format(", which has {}", size));
  return owned(type, dims, std::move(block), bytes);
}

// The sizes of one row, as configured and as the model has them.
result<shape> state_dims(const sequence_config::state& said, const tensor_signature& input,
                         const tensor_signature& output, bool batched, const std::string& where) {
  const auto type = said.type.value_or(input.type);
  if (input.type != type || output.type != type)
    return fail(errc::invalid_argument,
                "{}: data_type: its input has {}, its output {}, the configuration {}", where,
                to_string(input.type), to_string(output.type), to_string(type));
  shape dims;
  if (batched)
    dims.push_back(1);
  dims.insert(dims.end(), said.dims.begin(), said.dims.end());
  for (const auto* side : {&input, &output}) {
    bool alike = side->any_rank || side->dims.size() == dims.size();
    for (std::size_t axis = batched ? 1 : 0; alike && axis < side->dims.size(); ++axis)
      alike = side->dims[axis] == -1 || side->dims[axis] == dims[axis];
    if (!alike)
      return fail(errc::invalid_argument, "{}: dims: \"{}\" has {}, the configuration {}{}", where,
                  side->name, to_string(std::span{side->dims}), batched ? "[batch] + " : "",
                  to_string(std::span{said.dims}));
  }
  return dims;
}

constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

result<void> take_for_server(tensor_signature& one, const std::string& where) {
  if (one.internal)
    return fail(errc::invalid_argument, "{}: the input is a control or a state already", where);
  one.internal = true;
  return {};
}

result<void> add_control(sequences::rules& into, const sequence_config::control& said,
                         const model_folder& of, signature& io) {
  const auto where =
      fmt::format("model {}: sequence_batching: control_input \"{}\"", of.name, said.input);
  const auto input = index_of(io.inputs, said.input, "input", of);
  if (!input)
    return propagate(input);
  if (listed(of.config.inputs, said.input))
    return fail(errc::invalid_argument, "{}: it is listed as an input of the clients'", where);
  auto dims = control_dims(io.inputs[*input], said.type, io.max_batch_size > 0, where);
  if (!dims)
    return propagate(std::move(dims));
  if (said.of == kind::correlation_id) {
    into.id = sequences::id_input{*input, said.type, std::move(*dims)};
  } else {
    using made_kind = sequences::control::kind;
    const auto as = said.of == kind::start   ? made_kind::start
                    : said.of == kind::ready ? made_kind::ready
                                             : made_kind::end;
    into.controls.push_back(
        {as, *input, flag(said.type, *dims, said.no), flag(said.type, *dims, said.yes)});
  }
  return take_for_server(io.inputs[*input], where);
}

result<void> add_state(sequences::rules& into, const sequence_config::state& said,
                       const model_folder& of, signature& io) {
  const auto where = fmt::format("model {}: sequence_batching: state \"{}\"", of.name, said.input);
  const auto input = index_of(io.inputs, said.input, "input", of);
  const auto output = input ? index_of(io.outputs, said.output, "output", of) : input;
  if (!output)
    return propagate(output);
  if (listed(of.config.inputs, said.input))
    return fail(errc::invalid_argument, "{}: it is listed as an input of the clients'", where);
  const auto& from = io.inputs[*input];
  auto dims = state_dims(said, from, io.outputs[*output], io.max_batch_size > 0, where);
  if (!dims)
    return propagate(std::move(dims));
  auto initial = initial_of(said, from.type, *dims, max_state_bytes - into.state_bytes, of, where);
  if (!initial)
    return propagate(std::move(initial));
  const auto bytes = initial->data.size();
  into.states.push_back({*input, *output, std::move(*initial), into.state_bytes});
  into.state_bytes += aligned(bytes);
  io.outputs[*output].internal = !listed(of.config.outputs, said.output);
  return take_for_server(io.inputs[*input], where);
}

} // namespace

result<sequences::rules> sequence_rules_of(const model_folder& of, signature& io) {
  const auto& said = *of.config.sequences;
  sequences::rules made;
  made.max_idle = said.max_idle;
  made.slots = static_cast<std::size_t>(
      said.candidates.value_or(std::max<std::int64_t>(1, io.max_batch_size)));
  for (const auto& one : said.controls)
    if (auto ok = add_control(made, one, of, io); !ok)
      return propagate(std::move(ok));
  for (const auto& one : said.states)
    if (auto ok = add_state(made, one, of, io); !ok)
      return propagate(std::move(ok));
  return made;
}

void set_sequence_batching(batching::policy& into, const sequence_config& said,
                           std::int64_t max_batch) {
  if (said.max_queue_delay > duration{0}) {
    const auto part = std::ceil(said.slot_utilization * static_cast<double>(max_batch));
    into.min_rows = said.candidates
                        ? (said.preferred.empty()
                               ? max_batch
                               : *std::min_element(said.preferred.begin(), said.preferred.end()))
                        : static_cast<std::int64_t>(part);
    into.min_rows = std::max<std::int64_t>(1, into.min_rows);
    into.max_wait = said.max_queue_delay;
    into.work_conserving = false;
  }
  into.preserve_ordering = said.preserve_ordering;
}

} // namespace troupe::repository
