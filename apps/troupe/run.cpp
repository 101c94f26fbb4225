#include "apps/common/npy.hpp"
#include "apps/common/output_files.hpp"
#include "apps/troupe/commands.hpp"
#include "apps/troupe/engine.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace troupe::cli {
namespace {

struct options {
  engine_options engine;
  std::vector<std::string> inputs; ///< "name=FILE.npy"
  std::string output;
};

/// The files in the order of the model's inputs.
result<std::vector<tensor>> read_inputs(const signature& io, std::span<const std::string> given) {
  std::map<std::string, std::string> files;
  for (const auto& text : given) {
    // A file's name may hold '=' and so may a tensor's: the longest tensor name that fits wins.
    const tensor_signature* named = nullptr;
    for (const auto& input : io.inputs)
      if (text.starts_with(input.name + '=') && (!named || input.name.size() > named->name.size()))
        named = &input;
    if (!named)
      throw usage_error{fmt::format("--input {}: the model has no such input", text)};
    if (!files.emplace(named->name, text.substr(named->name.size() + 1)).second)
      throw usage_error{fmt::format("--input {}: given twice", named->name)};
  }
  std::vector<tensor> read;
  for (const auto& input : io.inputs) {
    const auto file = files.find(input.name);
    if (file == files.end())
      throw usage_error{
          fmt::format("input '{}' is missing: --input {}=FILE.npy", input.name, input.name)};
    auto content = apps::read_npy(file->second);
    if (!content)
      return propagate(content);
    if (content->type != input.type)
      return troupe::fail(errc::invalid_argument, "input '{}' takes {}, but '{}' holds {}",
                          input.name, to_string(input.type), file->second,
                          to_string(content->type));
    read.push_back(*std::move(content));
  }
  return read;
}

result<void> run_once(const options& with) {
  auto model = load_engine(with.engine);
  if (!model)
    return propagate(model);
  const auto& io = (*model)->io();
  const auto inputs = read_inputs(io, with.inputs);
  if (!inputs)
    return propagate(inputs);
  std::vector<apps::named_output> outputs;
  if ((*model)->program()) {
    auto made = compute(**model, *inputs);
    if (!made)
      return propagate(made);
    for (std::size_t index = 0; index < made->size(); ++index)
      outputs.push_back({io.outputs[index].name, std::move((*made)[index])});
    return apps::write_outputs(with.output, outputs);
  }
  std::vector<shape> dims;
  for (const auto& input : *inputs)
    dims.push_back(input.dims);
  auto opened = session::open(**model, dims);
  if (!opened)
    return propagate(opened);
  for (std::size_t index = 0; index < inputs->size(); ++index)
    opened->set_input(index, (*inputs)[index].data.data());
  if (auto done = opened->run(); !done)
    return done;
  for (std::size_t index = 0; index < io.outputs.size(); ++index)
    outputs.push_back({io.outputs[index].name, opened->output(index)});
  return apps::write_outputs(with.output, outputs);
}

} // namespace

action add_run(CLI::App& command) {
  auto with = std::make_shared<options>();
  add_model_options(command, with->engine);
  command
      .add_option("--input", with->inputs,
                  "Content of an input, in numpy's format; every input once")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command.add_option("--output", with->output, "Directory for a file per output and manifest.json")
      ->required()
      ->type_name("DIR");
  return [with] {
    const auto done = run_once(*with);
    return done ? 0 : fail(done.error());
  };
}

} // namespace troupe::cli
