#include "runtime/dynamic/node_run.hpp"

#include "kernels/cpu/value_arguments.hpp"
#include "runtime/graph/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe::dynamic {

namespace {

constexpr std::array<std::string_view, 24> movers{"CenterCropPad",  "Concat",
                                                  "DepthToSpace",   "Expand",
                                                  "Flatten",        "Gather",
                                                  "GatherElements", "GatherND",
                                                  "Identity",       "Pad",
                                                  "Reshape",        "ReverseSequence",
                                                  "Scatter",        "ScatterElements",
                                                  "ScatterND",      "Slice",
                                                  "SpaceToDepth",   "Split",
                                                  "Squeeze",        "Tile",
                                                  "Transpose",      "Unsqueeze",
                                                  "Upsample",       "Where"};

/// Position 0 is an empty string, for what the operator adds of its own.
struct gathered {
  std::vector<std::span<const std::byte>> strings;
  std::vector<graph::constant_ptr> inputs;
};

constexpr std::array<std::byte, 4> empty_string{};

result<gathered> positions_of(std::span<const datum> inputs) {
  gathered made;
  made.strings.emplace_back(empty_string);
  for (const auto& input : inputs) {
    const auto* content = std::get_if<tensor>(&input);
    if (content == nullptr || content->type != dtype::string) {
      made.inputs.push_back(content == nullptr ? nullptr
                                               : std::make_shared<const tensor>(*content));
      continue;
    }
    auto runs = cpu::element_runs::of(*content);
    if (!runs)
      return propagate(runs);
    std::vector<std::int64_t> positions;
    for (std::int64_t index = 0; index < element_count(content->dims); ++index) {
      positions.push_back(static_cast<std::int64_t>(made.strings.size()));
      made.strings.push_back(runs->run(index, 1));
    }
    made.inputs.push_back(
        std::make_shared<const tensor>(cpu::make_integers(content->dims, positions)));
  }
  return made;
}

} // namespace

bool moves_strings(const graph::node& of) {
  return of.domain.empty() && std::ranges::find(movers, of.op_type) != movers.end();
}

result<std::vector<datum>> move_strings(const graph::node& of, std::span<const datum> inputs,
                                        const tools& with) {
  auto from = positions_of(inputs);
  if (!from)
    return propagate(from);
  auto moved = graph::evaluate(of, from->inputs, *with.on);
  if (!moved)
    return propagate(moved);
  std::vector<datum> outputs;
  for (const auto& output : *moved) {
    if (!output) {
      outputs.emplace_back();
      continue;
    }
    std::vector<std::span<const std::byte>> runs;
    for (auto position : elements_of<std::int64_t>(output->data)) {
      if (position < 0 || static_cast<std::size_t>(position) >= from->strings.size())
        return fail(errc::unimplemented, "strings are not supported");
      runs.push_back(from->strings[static_cast<std::size_t>(position)]);
    }
    outputs.emplace_back(cpu::join_runs(dtype::string, output->dims, runs));
  }
  return outputs;
}

} // namespace troupe::dynamic
