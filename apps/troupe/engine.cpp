#include "apps/troupe/engine.hpp"

#include "apps/troupe/commands.hpp"
#include "kernels/cpu/cpu_device.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace troupe::cli {
namespace {

std::optional<shape> parse_dims(std::string_view text) {
  shape dims;
  if (text == "[]" || text.empty())
    return dims;
  while (true) {
    std::int64_t size = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (failure != std::errc{} || size < 0)
      return std::nullopt;
    dims.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty())
      return dims;
    if (text.front() != ',')
      return std::nullopt;
    text.remove_prefix(1);
  }
}

std::map<std::string, shape> given_shapes(const signature& io, const engine_options& from) {
  std::map<std::string, shape> given;
  for (const auto& text : from.shapes) {
    const auto split = text.rfind('=');
    if (split == std::string::npos)
      throw usage_error{fmt::format("--shape takes name=1,3,224,224, not '{}'", text)};
    const auto name = text.substr(0, split);
    auto dims = parse_dims(std::string_view{text}.substr(split + 1));
    if (!dims)
      throw usage_error{
          fmt::format("--shape {}: '{}' is no list of sizes", name, text.substr(split + 1))};
    if (std::ranges::find(io.inputs, name, &tensor_signature::name) == io.inputs.end())
      throw usage_error{fmt::format("--shape {}: the model has no such input", name)};
    given[name] = *std::move(dims);
  }
  return given;
}

// A model of fixed sizes has no other batches.
bool takes_batches(const signature& io) {
  return std::ranges::any_of(io.inputs, [](const tensor_signature& input) {
    return input.any_rank || (!input.dims.empty() && input.dims.front() < 0);
  });
}

} // namespace

void add_model_options(CLI::App& command, engine_options& into) {
  command.add_option("model", into.model, "The ONNX file")->required()->type_name("MODEL.onnx");
  command
      .add_option("--threads", into.threads, "Size of the kernel thread team; 0: all processors")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_option("--precision", into.precision, "What to compute in; only f32 is built")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "int8"}))
      ->capture_default_str();
  command
      .add_option("--tune", into.tuning,
                  "Measure kernels where several would do, and keep the choices in this file")
      ->type_name("FILE");
  command.add_flag("--batch-invariant", into.batch_invariant,
                   "The same bits for a row in any batch, on any number of threads");
  command.add_flag("--whole-batches", into.whole_batches,
                   "Never compute the rows of a batch one by one");
}

void add_shape_options(CLI::App& command, engine_options& into) {
  command
      .add_option("--shape", into.shapes,
                  "Dims of an input, such as x=1,3,224,224 (may be repeated)")
      ->type_name("NAME=DIMS")
      ->allow_extra_args(false);
  command.add_option("--batch", into.batch, "Size of the first axis of every input")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
}

result<std::shared_ptr<exec::model>> load_engine(const engine_options& from) {
  if (from.precision != "f32")
    return troupe::fail(errc::unimplemented, "precision {} is not supported, only f32",
                        from.precision);
  auto device = cpu::make_cpu_device({.threads = from.threads});
  if (!device)
    return propagate(device);
  exec::model_options options;
  options.batch_invariant = from.batch_invariant;
  options.whole_batches = from.whole_batches;
  if (!from.tuning.empty()) {
    auto tuned = plan::tuning::open(from.tuning, **device);
    if (!tuned)
      return propagate(tuned);
    options.tuning = *std::move(tuned);
  }
  auto loaded = exec::model::load(from.model, *device, options);
  if (loaded && from.batch_invariant && takes_batches((*loaded)->io())
      && !(*loaded)->rows_independent())
    return troupe::fail(errc::invalid_argument,
                        "model '{}': its rows cannot be batch-invariant: {}", from.model,
                        (*loaded)->why_rows_depend());
  return loaded;
}

std::vector<shape> input_dims(const signature& io, const engine_options& from) {
  auto given = given_shapes(io, from);
  std::vector<shape> dims;
  for (const auto& input : io.inputs) {
    shape made(input.dims.begin(), input.dims.end());
    if (input.any_rank && !given.contains(input.name))
      throw usage_error{
          fmt::format("input '{}' has any number of axes: give its dims with --shape {}=…",
                      input.name, input.name)};
    const auto known = given.find(input.name);
    if (known != given.end())
      made = known->second;
    if (!made.empty() && from.batch > 0)
      made[0] = from.batch;
    else if (!made.empty() && made[0] < 0)
      made[0] = 1;
    if (std::ranges::any_of(made, [](std::int64_t size) { return size < 0; }))
      throw usage_error{fmt::format("input '{}' is {}: give its dims with --shape {}=…", input.name,
                                    to_string(input.dims), input.name)};
    dims.push_back(std::move(made));
  }
  return dims;
}

result<session> session::open(exec::model& of, std::span<const shape> dims) {
  auto plan = of.make_plan(dims);
  if (!plan)
    return propagate(plan);
  session made;
  auto opened = of.on().open_stream(stream_mode::inline_);
  if (!opened)
    return propagate(opened);
  made.stream_ = std::move(*opened);
  auto arena = of.on().allocate((*plan)->arena_bytes);
  if (!arena)
    return propagate(arena);
  made.arena_ = std::move(*arena);
  made.state_ = std::make_unique<exec::run_state>(*plan);
  made.state_->bind(made.arena_->data());
  for (const auto& output : (*plan)->outputs) {
    made.outputs_.push_back(allocate_aligned(output.bytes()));
    made.state_->set_output(made.outputs_.size() - 1, made.outputs_.back().get());
  }
  return made;
}

tensor session::output(std::size_t index) const {
  const auto& desc = of().outputs[index];
  return {desc.type, desc.dims, {outputs_[index], {outputs_[index].get(), desc.bytes()}}};
}

result<void> session::run(const exec::run_state::observer& watch) {
  result<void> outcome;
  stream_->submit([&](stream& on) { return state_->launch(on, watch); },
                  [&](result<void> done) { outcome = std::move(done); });
  return outcome;
}

result<std::vector<tensor>> compute(const exec::model& of, std::span<const tensor> inputs) {
  auto opened = of.on().open_stream(stream_mode::inline_);
  if (!opened)
    return propagate(opened);
  result<std::vector<datum>> made;
  result<void> outcome;
  (*opened)->submit(
      [&](stream& on) -> result<void> {
        made = of.program()->run({inputs.begin(), inputs.end()}, {on, {}});
        return made ? result<void>{} : propagate(made);
      },
      [&](result<void> done) { outcome = std::move(done); });
  if (!outcome)
    return propagate(outcome);
  std::vector<tensor> outputs;
  for (auto& next : *made) {
    auto* content = std::get_if<tensor>(&next);
    if (content == nullptr)
      return troupe::fail(errc::unimplemented, "output '{}' is no tensor: there is no file for it",
                          of.io().outputs[outputs.size()].name);
    outputs.push_back(std::move(*content));
  }
  return outputs;
}

} // namespace troupe::cli
