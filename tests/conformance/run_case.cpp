#include "tests/conformance/run_case.hpp"

#include "kernels/cpu/cpu_device.hpp"
#include "runtime/exec/model.hpp"
#include "runtime/exec/run_state.hpp"
#include "runtime/onnx/import.hpp"
#include "tests/conformance/compare.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace troupe::conformance {
namespace {

namespace fs = std::filesystem;

graph::value_kind kind_of(const tensor_signature& declared) {
  using graph::value_kind;
  if (declared.sequence)
    return declared.optional ? value_kind::optional_sequence : value_kind::sequence;
  return declared.optional ? value_kind::optional_tensor : value_kind::tensor;
}

result<std::vector<datum>> read_all(const fs::path& data, const char* stem,
                                    const std::vector<tensor_signature>& declared) {
  std::vector<datum> all;
  for (const auto& one : declared) {
    const auto file = data / fmt::format("{}_{}.pb", stem, all.size());
    if (!fs::exists(file))
      return fail(errc::unimplemented, "'{}' has no data", one.name);
    auto read = onnx::import_value(file, kind_of(one));
    if (!read)
      return propagate(read);
    all.push_back(*std::move(read));
    auto* content = std::get_if<tensor>(&all.back());
    if (content && one.type == dtype::bfloat16 && content->type == dtype::uint16)
      content->type = dtype::bfloat16; // older suites: numpy has no such type
  }
  return all;
}

result<std::vector<datum>> run_plan(exec::model& of, const std::vector<datum>& inputs,
                                    troupe::stream& on) {
  std::vector<shape> dims;
  for (const auto& input : inputs)
    dims.push_back(std::get<tensor>(input).dims);
  auto plan = of.make_plan(dims);
  if (!plan)
    return propagate(plan);
  auto arena = of.on().allocate((*plan)->arena_bytes);
  if (!arena)
    return propagate(arena);
  exec::run_state state{*plan};
  state.bind((*arena)->data());
  for (std::size_t index = 0; index < inputs.size(); ++index)
    state.set_input(index, std::get<tensor>(inputs[index]).data.data());
  std::vector<datum> outputs;
  for (const auto& desc : (*plan)->outputs) {
    std::shared_ptr<std::byte[]> block = allocate_aligned(desc.bytes());
    state.set_output(outputs.size(), block.get());
    const std::byte* data = block.get();
    outputs.emplace_back(tensor{desc.type, desc.dims, {std::move(block), {data, desc.bytes()}}});
  }
  if (auto ran = state.launch(on); !ran)
    return propagate(ran);
  return outputs;
}

result<std::vector<datum>> run_model(exec::model& of, const std::vector<datum>& inputs) {
  auto stream = of.on().open_stream(stream_mode::inline_);
  if (!stream)
    return propagate(stream);
  result<std::vector<datum>> made;
  result<void> ran;
  (*stream)->submit(
      [&](troupe::stream& on) -> result<void> {
        made = of.program() ? of.program()->run(inputs, {on, {}}) : run_plan(of, inputs, on);
        return made ? result<void>{} : propagate(made);
      },
      [&](result<void> done) { ran = std::move(done); });
  return made;
}

result<void> check_types(const exec::model& of, const std::vector<datum>& inputs) {
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const auto& declared = of.io().inputs[index];
    const auto* content = std::get_if<tensor>(&inputs[index]);
    if (content && declared.type != content->type)
      return fail(errc::internal, "input '{}' is declared {}, its data are {}", declared.name,
                  to_string(declared.type), to_string(content->type));
  }
  return {};
}

/// Why two values are not the same, or nothing.
std::string compare_values(const datum& found, const datum& expected) {
  if (found.index() != expected.index())
    return "a value of another kind expected";
  if (const auto* content = std::get_if<tensor>(&found))
    return compare(*content, std::get<tensor>(expected));
  const auto* sequence = std::get_if<tensor_sequence>(&found);
  if (!sequence)
    return {};
  const auto& other = std::get<tensor_sequence>(expected);
  if (sequence->elements.size() != other.elements.size())
    return fmt::format("{} elements expected, {} found", other.elements.size(),
                       sequence->elements.size());
  for (std::size_t at = 0; at < other.elements.size(); ++at)
    if (auto why = compare(sequence->elements[at], other.elements[at]); !why.empty())
      return fmt::format("element {}: {}", at, why);
  return {};
}

result<void> run_once(const fs::path& directory, const std::shared_ptr<device>& on, bool optimise) {
  auto model = exec::model::load(directory / "model.onnx", on, {.optimise = optimise});
  if (!model)
    return propagate(model);
  const auto& io = (*model)->io();
  for (int set = 0; fs::exists(directory / fmt::format("test_data_set_{}", set)); ++set) {
    const auto data = directory / fmt::format("test_data_set_{}", set);
    const auto inputs = read_all(data, "input", io.inputs);
    const auto expected = read_all(data, "output", io.outputs);
    if (!inputs || !expected)
      return propagate(inputs ? expected : inputs);
    if (auto good = check_types(**model, *inputs); !good)
      return good;
    const auto found = run_model(**model, *inputs);
    if (!found)
      return propagate(found);
    for (std::size_t index = 0; index < expected->size(); ++index)
      if (auto why = compare_values((*found)[index], (*expected)[index]); !why.empty())
        return fail(errc::internal, "output '{}': {}", io.outputs[index].name, why);
  }
  return {};
}

} // namespace

const char* to_string(verdict of) noexcept {
  switch (of) {
    case verdict::pass: return "pass";
    case verdict::refused: return "refused";
    case verdict::wrong: return "wrong";
    case verdict::crashed: return "crashed";
  }
  return "?";
}

outcome run_case(const fs::path& directory) {
  const auto on = cpu::make_cpu_device({.threads = 1});
  if (!on)
    return {verdict::wrong, to_string(on.error())};
  for (const bool optimise : {true, false}) {
    const auto ran = run_once(directory, *on, optimise);
    if (ran)
      continue;
    const auto& failure = ran.error();
    const auto is = failure.code == errc::unimplemented ? verdict::refused : verdict::wrong;
    return {is, failure.text + (optimise ? "" : " (not optimised)")};
  }
  return {};
}

} // namespace troupe::conformance
