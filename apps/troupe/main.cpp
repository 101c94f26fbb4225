// The command line. Exit status: 0 on success, 2 for wrong usage, 1 otherwise; an error is one line
// on stderr that begins "troupe: ".

#include "apps/common/kernel_waiting.hpp"
#include "apps/troupe/commands.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace troupe::cli;

struct entry {
  const char* name;
  const char* summary;
  action (*add)(CLI::App&);
};

const std::vector<entry>& table() {
  static const std::vector<entry> entries{
      {"serve", "Serve models over HTTP and msgpack", add_serve},
      {"run", "Run a model once on files and write its outputs", add_run},
      {"bench", "Measure latency and throughput of a model in this process", add_bench},
      {"inspect", "Show a model's graph, fusions, kernels and memory plan", add_inspect},
      {"infer", "Send one request to a server", add_infer},
      {"models", "List, load and unload the models of a server", add_models},
      {"simulate", "Replay a capture of a server in virtual time", add_simulate},
  };
  return entries;
}

void complain(std::string_view text) {
  std::string line{text.substr(0, text.find_last_not_of(" \n\t") + 1)};
  for (char& c : line)
    if (c == '\n')
      c = ' ';
  std::fprintf(stderr, "troupe: %s\n", line.c_str());
}

int run(int argc, char** argv) {
  CLI::App app{"Troupe serves neural networks with actors.", "troupe"};
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  app.require_subcommand(1);

  std::vector<std::pair<CLI::App*, action>> commands;
  for (const auto& [name, summary, add] : table()) {
    CLI::App* command = app.add_subcommand(name, summary);
    commands.emplace_back(command, add(*command));
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)
      return app.exit(e); // --help, --version
    complain(e.what());
    return 2;
  }
  for (auto& [command, act] : commands)
    if (command->parsed())
      return act();
  return 2;
}

} // namespace

int troupe::cli::fail(const error& why) {
  complain(why.text);
  return 1;
}

int main(int argc, char** argv) {
  troupe::apps::limit_kernel_spinning(argv);
  try {
    return run(argc, argv);
  } catch (const usage_error& e) {
    complain(e.what());
    return 2;
  } catch (const std::exception& e) {
    complain(e.what());
    return 1;
  }
}
