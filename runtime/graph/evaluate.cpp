#include "runtime/graph/evaluate.hpp"

#include "runtime/graph/infer.hpp"

#include <algorithm>
#include <utility>

namespace troupe::graph {

namespace {

// Everything a launch needs, kept together until it is done.
struct launch_room {
  std::vector<operand> operands;
  std::vector<tensor_view> inputs;
  std::vector<tensor_desc> descs;
  std::unique_ptr<bool[]> wanted; // std::vector<bool> has no span
  std::vector<tensor_view> outputs;
  std::vector<constant_ptr> results;
};

void add_inputs(std::span<const constant_ptr> inputs, launch_room& room) {
  for (const auto& input : inputs) {
    auto& next = room.operands.emplace_back();
    auto& view = room.inputs.emplace_back();
    if (!input)
      continue;
    next = {true, {input->type, input->dims}, input};
    view = {const_cast<std::byte*>(input->data.data()), next.desc}; // NOLINT: kernels do not write
  }
}

result<void> add_outputs(const std::vector<fact>& facts, launch_room& room) {
  room.wanted = std::make_unique<bool[]>(facts.size());
  for (std::size_t index = 0; index < facts.size(); ++index) {
    auto& desc = room.descs.emplace_back();
    auto& view = room.outputs.emplace_back();
    room.results.emplace_back();
    const auto& output = facts[index];
    if (!output.present)
      continue;
    const auto dims = output.dims ? concrete(*output.dims) : std::nullopt;
    if (!output.type || !dims || *output.type == dtype::string)
      return fail(errc::unimplemented,
                  "the type and dims of output {} do not follow from its inputs", index);
    desc = {*output.type, *dims};
    auto block = allocate_aligned(desc.bytes());
    const std::span<std::byte> bytes{block.get(), desc.bytes()};
    view = {block.get(), desc};
    room.wanted[index] = true;
    room.results.back() =
        std::make_shared<const tensor>(tensor{desc.type, desc.dims, {std::move(block), bytes}});
  }
  return {};
}

result<void> launch(const kernel& chosen, const launch_room& room, device& on) {
  const auto workspace = allocate_aligned(chosen.workspace_bytes());
  auto stream = on.open_stream(stream_mode::inline_);
  if (!stream)
    return propagate(stream);
  const kernel_args args{room.inputs, room.outputs, {workspace.get(), chosen.workspace_bytes()}};
  result<void> outcome;
  (*stream)->submit([&](troupe::stream& in) { return chosen.launch(in, args); },
                    [&](result<void> done) { outcome = std::move(done); });
  return outcome;
}

result<std::vector<constant_ptr>> run(const node& of, std::span<const constant_ptr> inputs,
                                      const std::vector<fact>& facts, device& on) {
  if (!on.properties().host_visible)
    return fail(errc::unimplemented, "the memory of device {} is not visible to the host",
                on.properties().name);
  launch_room room;
  add_inputs(inputs, room);
  if (auto done = add_outputs(facts, room); !done)
    return propagate(done);
  weight_cache packed;
  const kernel_spec spec{.domain = of.domain,
                         .op_type = of.op_type,
                         .version = of.version,
                         .attributes = &of.attributes,
                         .inputs = room.operands,
                         .outputs = room.descs,
                         .outputs_wanted = {room.wanted.get(), facts.size()},
                         .post_ops = of.post_ops,
                         .threads = on.properties().threads};
  auto choice = on.choose_kernel(spec, packed);
  if (!choice)
    return propagate(choice);
  if (auto done = launch(*choice->chosen, room, on); !done)
    return propagate(done);
  return std::move(room.results);
}

} // namespace

result<std::vector<constant_ptr>> evaluate(const node& of, std::span<const constant_ptr> inputs,
                                           device& on) {
  std::vector<fact> known;
  for (const auto& input : inputs)
    known.push_back(input ? fact{.present = true,
                                 .type = input->type,
                                 .dims = symbolic(input->dims),
                                 .constant = input}
                          : fact{});
  graph symbols;
  auto facts = infer(of, known, symbols);
  if (!facts)
    return propagate(facts);
  const auto settled = [](const fact& output) { return !output.present || output.constant; };
  if (std::ranges::all_of(*facts, settled)) {
    std::vector<constant_ptr> results;
    for (auto& output : *facts)
      results.push_back(std::move(output.constant));
    return results;
  }
  auto results = run(of, inputs, *facts, on);
  if (!results)
    return fail(results.error().code, "node '{}' ({}): {}", of.name, of.op_type,
                results.error().text);
  return results;
}

} // namespace troupe::graph
