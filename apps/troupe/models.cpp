#include "apps/troupe/commands.hpp"
#include "clients/cpp/client.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace troupe::cli {
namespace {

struct options {
  std::string url;
  std::string load;
  std::string unload;
  bool json = false;
  double timeout_s = 300;
};

void print_table(const std::vector<protocol::model_index_entry>& models) {
  std::size_t width = 5;
  for (const auto& each : models)
    width = std::max(width, each.name.size());
  fmt::print("{:<{}}  {:>7}  {:<11}  {}\n", "MODEL", width, "VERSION", "STATE", "REASON");
  for (const auto& each : models)
    fmt::print("{:<{}}  {:>7}  {:<11}  {}\n", each.name, width, each.version, each.state,
               each.reason);
}

void print_json(const std::vector<protocol::model_index_entry>& models) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& each : models)
    all.push_back({{"name", each.name},
                   {"version", each.version},
                   {"state", each.state},
                   {"reason", each.reason}});
  fmt::print("{}\n", nlohmann::json{{"models", all}}.dump(2));
}

result<void> run_models(const options& with) {
  client::options settings;
  settings.timeout =
      std::chrono::duration_cast<duration>(std::chrono::duration<double>{with.timeout_s});
  auto server = client::connect(with.url, settings);
  if (!server)
    return propagate(server);
  if (!with.load.empty())
    return (*server)->load(with.load);
  if (!with.unload.empty())
    return (*server)->unload(with.unload);
  const auto models = (*server)->index();
  if (!models)
    return propagate(models);
  if (with.json)
    print_json(*models);
  else
    print_table(*models);
  return {};
}

} // namespace

action add_models(CLI::App& command) {
  auto with = std::make_shared<options>();
  command.add_option("URL", with->url, "tcp://HOST[:PORT] or http://HOST[:PORT]")->required();
  command.add_flag("--json", with->json, "Print the models as one JSON document");
  command.add_option("--timeout", with->timeout_s, "Longest wait for the server")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* load = command.add_subcommand("load", "Load a model, or load it again");
  load->add_option("NAME", with->load, "Name of the model")->required();
  auto* unload = command.add_subcommand("unload", "Unload a model");
  unload->add_option("NAME", with->unload, "Name of the model")->required();
  command.require_subcommand(0, 1);
  return [with] {
    const auto done = run_models(*with);
    return done ? 0 : fail(done.error());
  };
}

} // namespace troupe::cli
