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

result<std::vector<tensor>> read_all(const fs::path& data, const char* stem,
                                     const std::vector<tensor_signature>& declared) {
  std::vector<tensor> all;
  for (const auto& one : declared) {
    const auto file = data / fmt::format("{}_{}.pb", stem, all.size());
    if (!fs::exists(file))
      return fail(errc::unimplemented, "'{}' has no data", one.name);
    auto read = onnx::import_tensor(file);
    if (!read)
      return propagate(read);
    all.push_back(**read);
    if (one.type == dtype::bfloat16 && all.back().type == dtype::uint16)
      all.back().type = dtype::bfloat16; // older suites: numpy has no such type
  }
  return all;
}

result<std::vector<tensor>> run_model(exec::model& of, const std::vector<tensor>& inputs) {
  std::vector<shape> dims;
  for (const auto& input : inputs)
    dims.push_back(input.dims);
  auto plan = of.make_plan(dims);
  if (!plan)
    return propagate(plan);
  auto stream = of.on().open_stream(stream_mode::inline_);
  if (!stream)
    return propagate(stream);
  auto arena = of.on().allocate((*plan)->arena_bytes);
  if (!arena)
    return propagate(arena);
  exec::run_state state{*plan};
  state.bind((*arena)->data());
  for (std::size_t index = 0; index < inputs.size(); ++index)
    state.set_input(index, inputs[index].data.data());
  std::vector<tensor> outputs;
  for (const auto& desc : (*plan)->outputs) {
    std::shared_ptr<std::byte[]> block = allocate_aligned(desc.bytes());
    state.set_output(outputs.size(), block.get());
    const std::byte* data = block.get();
    outputs.push_back({desc.type, desc.dims, {std::move(block), {data, desc.bytes()}}});
  }
  result<void> ran;
  (*stream)->submit([&](troupe::stream& on) { return state.launch(on); },
                    [&](result<void> done) { ran = std::move(done); });
  if (!ran)
    return propagate(ran);
  return outputs;
}

result<void> check_types(const exec::model& of, const std::vector<tensor>& inputs) {
  for (std::size_t index = 0; index < inputs.size(); ++index)
    if (const auto& declared = of.io().inputs[index]; declared.type != inputs[index].type)
      return fail(errc::internal, "input '{}' is declared {}, its data are {}", declared.name,
                  to_string(declared.type), to_string(inputs[index].type));
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
      if (auto why = compare((*found)[index], (*expected)[index]); !why.empty())
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
