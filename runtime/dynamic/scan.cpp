// Scan cuts its last inputs along an axis and runs its body once for each cut. Scan-8 does so for
// each row of a batch, over as many cuts as the row has.

#include "runtime/dynamic/control.hpp"

#include "kernels/cpu/value_arguments.hpp"
#include "runtime/dynamic/program.hpp"
#include "runtime/graph/subgraphs.hpp"

#include <algorithm>
#include <utility>

namespace troupe::dynamic {

namespace {

/// The tensor at `index` along `axis`, which it loses.
result<tensor> cut(const tensor& from, std::size_t axis, std::int64_t index) {
  auto elements = cpu::element_runs::of(from);
  if (!elements)
    return propagate(elements);
  const std::span<const std::int64_t> dims{from.dims};
  const auto rows = element_count(dims.first(axis));
  const auto width = element_count(dims.subspan(axis + 1));
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < rows; ++row)
    runs.push_back(elements->run((row * dims[axis] + index) * width, width));
  auto left = from.dims;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  return cpu::join_runs(from.type, left, runs);
}

/// How one scan goes: over which axes, in which direction.
struct scanning {
  std::vector<std::size_t> axes;
  std::vector<bool> backward;
  std::vector<bool> output_backward;
  std::int64_t steps = 0;
};

std::vector<bool> directions(const graph::node& of, const char* attribute, std::size_t count) {
  const auto written = of.attributes.integers(attribute);
  std::vector<bool> made(count, false);
  for (std::size_t index = 0; index < std::min(count, written.size()); ++index)
    made[index] = written[index] != 0;
  return made;
}

/// Final states, then what every step gave, in order of the outputs.
struct scanned {
  std::vector<datum> states;
  std::vector<std::vector<tensor>> kept;
};

result<scanned> scan_over(const control_call& of, std::vector<datum> states,
                          std::span<const tensor> sources, const scanning& how) {
  const auto& body = of.bodies[0]->of();
  if (body.outputs.size() < states.size())
    return fail(errc::invalid_argument, "a body of at least {} outputs expected, {} found",
                states.size(), body.outputs.size());
  scanned made{std::move(states), {}};
  made.kept.resize(body.outputs.size() - made.states.size());
  for (std::int64_t step = 0; step < how.steps; ++step) {
    if (auto wanted = of.with.check(); !wanted)
      return propagate(wanted);
    std::vector<datum> fed = std::move(made.states);
    const auto count = fed.size();
    for (std::size_t index = 0; index < sources.size(); ++index) {
      const auto at = how.backward[index] ? sources[index].dims[how.axes[index]] - 1 - step : step;
      auto next = cut(sources[index], how.axes[index], at);
      if (!next)
        return propagate(next);
      fed.emplace_back(*std::move(next));
    }
    auto outputs = of.run_body(0, std::move(fed));
    if (!outputs)
      return propagate(outputs);
    made.states.assign(
        std::make_move_iterator(outputs->begin()),
        std::make_move_iterator(outputs->begin() + static_cast<std::ptrdiff_t>(count)));
    for (std::size_t index = 0; index < made.kept.size(); ++index) {
      auto* next = std::get_if<tensor>(&(*outputs)[count + index]);
      if (next == nullptr)
        return fail(errc::invalid_argument, "output {} of the body is no tensor", count + index);
      made.kept[index].push_back(std::move(*next));
    }
  }
  for (std::size_t index = 0; index < made.kept.size(); ++index)
    if (index < how.output_backward.size() && how.output_backward[index])
      std::ranges::reverse(made.kept[index]);
  return made;
}

result<std::vector<tensor>> tensors_of(std::span<const datum> from) {
  std::vector<tensor> made;
  for (const auto& next : from) {
    const auto* content = std::get_if<tensor>(&next);
    if (content == nullptr)
      return fail(errc::invalid_argument, "tensors to scan expected");
    made.push_back(*content);
  }
  return made;
}

result<std::vector<datum>> scan_once(const control_call& of, std::size_t states,
                                     std::span<const tensor> sources) {
  scanning how;
  for (std::size_t index = 0; index < sources.size(); ++index) {
    auto axis = graph::scan_axis(of.of, "scan_input_axes", index, sources[index].dims.size());
    if (!axis)
      return propagate(axis);
    how.axes.push_back(*axis);
    const auto steps = sources[index].dims[*axis];
    if (index > 0 && steps != how.steps)
      return fail(errc::invalid_argument, "scan inputs of {} steps expected, {} found", how.steps,
                  steps);
    how.steps = steps;
  }
  how.backward = directions(of.of, "scan_input_directions", sources.size());
  const auto& body = of.bodies[0]->of();
  how.output_backward = directions(of.of, "scan_output_directions", body.outputs.size());
  auto made =
      scan_over(of, {of.inputs.begin(), of.inputs.begin() + static_cast<std::ptrdiff_t>(states)},
                sources, how);
  if (!made)
    return propagate(made);
  auto outputs = std::move(made->states);
  for (std::size_t index = 0; index < made->kept.size(); ++index) {
    const auto& declared = body.values[body.outputs[states + index]];
    const auto& parts = made->kept[index];
    const auto rank = !parts.empty()  ? parts.front().dims.size()
                      : declared.dims ? declared.dims->size()
                                      : 0;
    auto axis = graph::scan_axis(of.of, "scan_output_axes", index, rank + 1);
    if (!axis)
      return propagate(axis);
    auto stacked = stack(parts, *axis, declared);
    if (!stacked)
      return propagate(stacked);
    outputs.emplace_back(*std::move(stacked));
  }
  return outputs;
}

/// Behind the last step of a short row stand zeros.
tensor zeros_like(const tensor& of) {
  auto block = allocate_aligned(of.data.size());
  std::fill_n(block.get(), of.data.size(), std::byte{0});
  const std::span<const std::byte> bytes{block.get(), of.data.size()};
  return {of.type, of.dims, {std::move(block), bytes}};
}

result<std::vector<datum>> scan_batch(const control_call& of, std::size_t states,
                                      std::span<const tensor> sources) {
  auto carried = tensors_of(of.inputs.subspan(1, states));
  if (!carried)
    return propagate(carried);
  if (sources[0].dims.size() < 2)
    return fail(errc::invalid_argument, "a batch axis and an axis to scan expected, {} found",
                to_string(sources[0].dims));
  const auto rows = sources[0].dims[0];
  const auto longest = sources[0].dims[1];
  for (const auto& next : sources)
    if (next.dims.size() < 2 || next.dims[0] != rows || next.dims[1] != longest)
      return fail(errc::invalid_argument, "scan inputs of {} rows and {} steps expected, {} found",
                  rows, longest, to_string(next.dims));
  for (const auto& next : *carried)
    if (next.dims.empty() || next.dims[0] != rows)
      return fail(errc::invalid_argument, "states of {} rows expected, {} found", rows,
                  to_string(next.dims));
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows), longest);
  if (const auto* given = std::get_if<tensor>(&of.inputs[0])) {
    auto read = cpu::integers_in(*given);
    if (!read)
      return propagate(read);
    lengths = *std::move(read);
    if (static_cast<std::int64_t>(lengths.size()) != rows
        || std::ranges::any_of(lengths, [&](auto n) { return n < 0 || n > longest; }))
      return fail(errc::invalid_argument, "{} lengths of at most {} expected, {} found", rows,
                  longest, to_string(lengths));
  }
  const auto& body = of.bodies[0]->of();
  if (body.outputs.size() < states)
    return fail(errc::invalid_argument, "a body of at least {} outputs expected, {} found", states,
                body.outputs.size());
  std::vector<std::vector<tensor>> gathered(body.outputs.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<datum> own;
    std::vector<tensor> parts;
    for (const auto& next : *carried) {
      auto state = cut(next, 0, row);
      if (!state)
        return propagate(state);
      own.emplace_back(*std::move(state));
    }
    for (const auto& next : sources) {
      auto part = cut(next, 0, row);
      if (!part)
        return propagate(part);
      parts.push_back(*std::move(part));
    }
    scanning how{std::vector<std::size_t>(parts.size(), 0),
                 directions(of.of, "directions", parts.size()),
                 {},
                 lengths[static_cast<std::size_t>(row)]};
    auto made = scan_over(of, std::move(own), parts, how);
    if (!made)
      return propagate(made);
    auto last = tensors_of(made->states);
    if (!last)
      return propagate(last);
    for (std::size_t index = 0; index < states; ++index)
      gathered[index].push_back((*last)[index]);
    for (std::size_t index = 0; index < made->kept.size(); ++index) {
      auto& kept = made->kept[index];
      while (!kept.empty() && static_cast<std::int64_t>(kept.size()) < longest)
        kept.push_back(zeros_like(kept.front()));
      auto stacked = stack(kept, 0, body.values[body.outputs[states + index]]);
      if (!stacked)
        return propagate(stacked);
      gathered[states + index].push_back(*std::move(stacked));
    }
  }
  std::vector<datum> outputs;
  for (std::size_t index = 0; index < gathered.size(); ++index) {
    auto stacked = stack(gathered[index], 0, body.values[body.outputs[index]]);
    if (!stacked)
      return propagate(stacked);
    outputs.emplace_back(*std::move(stacked));
  }
  return outputs;
}

} // namespace

result<std::vector<datum>> run_scan(const control_call& of) {
  const std::size_t ahead = of.of.version < 9 ? 1 : 0;
  const auto own = graph::own_inputs(of.of);
  const auto count = of.of.attributes.integer("num_scan_inputs", 0);
  if (count < 1 || own < ahead || static_cast<std::uint64_t>(count) > own - ahead)
    return fail(errc::invalid_argument, "num_scan_inputs in [1, {}] expected, {} found",
                own - std::min(own, ahead), count);
  const auto scanned = static_cast<std::size_t>(count);
  const auto states = own - ahead - scanned;
  auto sources = tensors_of(of.inputs.subspan(ahead + states, scanned));
  if (!sources)
    return propagate(sources);
  return ahead > 0 ? scan_batch(of, states, *sources) : scan_once(of, states, *sources);
}

} // namespace troupe::dynamic
