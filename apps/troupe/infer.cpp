#include "apps/common/npy.hpp"
#include "apps/common/output_files.hpp"
#include "apps/troupe/commands.hpp"
#include "apps/troupe/describe.hpp"
#include "clients/cpp/client.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

namespace troupe::cli {
namespace {

struct options {
  std::string url;
  std::string model;
  std::string version;
  std::vector<std::string> inputs; ///< "name=FILE"
  std::string output;
  double timeout_s = 60;
};

/// A .npy file as it is; any other as one element of BYTES, such as an image for a model that
/// decodes.
result<tensor> read_input(const std::string& file) {
  if (file.ends_with(".npy"))
    return apps::read_npy(file);
  std::ifstream stream{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream)
    return troupe::fail(errc::not_found, "cannot read '{}'", file);
  return pack_strings(std::span{&bytes, 1});
}

result<std::vector<protocol::named_tensor>> read_inputs(const protocol::model_metadata& model,
                                                        const std::vector<std::string>& given) {
  std::vector<protocol::named_tensor> read;
  std::set<std::string> seen;
  for (const auto& text : given) {
    // A file's name may hold '=' and so may a tensor's: the longest tensor name that fits wins.
    const protocol::tensor_metadata* named = nullptr;
    for (const auto& input : model.inputs)
      if (text.starts_with(input.name + '=') && (!named || input.name.size() > named->name.size()))
        named = &input;
    if (!named)
      throw usage_error{fmt::format("--input {}: model '{}' has no such input", text, model.name)};
    if (!seen.insert(named->name).second)
      throw usage_error{fmt::format("--input {}: given twice", named->name)};
    auto content = read_input(text.substr(named->name.size() + 1));
    if (!content)
      return propagate(content);
    read.push_back({named->name, std::move(*content), {}});
  }
  return read;
}

result<void> infer_once(const options& with) {
  client::options settings;
  settings.timeout =
      std::chrono::duration_cast<duration>(std::chrono::duration<double>{with.timeout_s});
  auto server = client::connect(with.url, settings);
  if (!server)
    return propagate(server);
  const auto model = (*server)->metadata(with.model, with.version);
  if (!model)
    return propagate(model);
  auto inputs = read_inputs(*model, with.inputs);
  if (!inputs)
    return propagate(inputs);
  client::inference_request request;
  request.model_name = with.model;
  request.model_version = with.version;
  request.inputs = std::move(*inputs);
  const auto answer = (*server)->infer(std::move(request));
  if (!answer)
    return propagate(answer);
  std::vector<apps::named_output> outputs;
  for (const auto& each : answer->outputs) {
    outputs.push_back({each.name, each.value});
    if (with.output.empty())
      std::printf("%s: %s\n", each.name.c_str(), describe(each.value).c_str());
  }
  if (with.output.empty())
    return {};
  return apps::write_outputs(with.output, outputs);
}

} // namespace

action add_infer(CLI::App& command) {
  auto with = std::make_shared<options>();
  command.add_option("URL", with->url, "tcp://HOST[:PORT] or http://HOST[:PORT]")->required();
  command.add_option("MODEL", with->model, "Name of a model of the server")->required();
  command
      .add_option("--input", with->inputs,
                  "Content of an input: a .npy file, or any other file as one element of BYTES")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--output", with->output,
          "Directory for a file per output and manifest.json; without it the outputs are printed")
      ->type_name("DIR");
  command.add_option("--model-version", with->version, "The server's choice if not given");
  command.add_option("--timeout", with->timeout_s, "Longest wait for the answer")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return [with] {
    const auto done = infer_once(*with);
    return done ? 0 : fail(done.error());
  };
}

} // namespace troupe::cli
