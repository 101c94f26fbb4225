// A server like `troupe serve` whose actors can be killed from outside: the driver of
// tests/e2e/chaos_test.py writes a line "kill" and reads back who it was. In a program of its own,
// so that the product has no such door.
//   chaos_server [--seed N] MODEL…
// Models are files or folders as `troupe serve` takes them. Prints one line of JSON when it is
// ready and one for each death; ends cleanly when its input does.

#include "actors/system.hpp"
#include "actors/troupe.hpp"
#include "protocol/msgpack/listener.hpp"
#include "protocol/rest/listener.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace {

using namespace troupe;

class executioner {
public:
  executioner(const actors::commons& of, std::uint64_t seed) : of_(of), dice_(seed) {}

  /// Kills anybody of the stage table but its root; the name, empty if nobody was there.
  std::string kill_somebody() {
    const auto beyond = of_.stages->fresh_id();
    std::vector<caf::actor> alive;
    for (actors::stage_id id = 1; id < beyond; ++id)
      if (id != of_.supervisor)
        if (auto one = of_.stages->get<caf::actor>(id))
          alive.push_back(std::move(one));
    if (alive.empty())
      return {};
    const auto& chosen = alive[dice_() % alive.size()];
    const auto* self = caf::actor_cast<caf::abstract_actor*>(chosen);
    const std::string name = dynamic_cast<const caf::local_actor&>(*self).name();
    caf::anon_send_exit(chosen, caf::exit_reason::kill);
    return name;
  }

private:
  const actors::commons& of_;
  std::mt19937_64 dice_;
};

int fail_with(const error& why) {
  fmt::print(stderr, "chaos_server: {}\n", to_string(why));
  return 1;
}

int run(const std::vector<std::string>& models, std::uint64_t seed) {
  auto started = runtime::start();
  if (!started)
    return fail_with(started.error());
  auto& system = **started;
  for (const std::filesystem::path path : models)
    if (auto loaded = system.load(path.stem().string(), path); !loaded)
      return fail_with(loaded.error());
  const protocol::listener_options free_port{.host = "127.0.0.1", .port = 0};
  const auto http = system.open(std::make_unique<protocol::rest_listener>(
      system.service(), free_port, protocol::rest_options{}));
  const auto msgpack = system.open(std::make_unique<protocol::msgpack_listener>(
      system.service(), free_port, protocol::rpc::limits{}));
  if (!http || !msgpack)
    return fail_with(http ? msgpack.error() : http.error());
  std::cout << fmt::format(R"({{"ready": true, "pid": {}, "http": "127.0.0.1:{}", )"
                           R"("msgpack": "127.0.0.1:{}"}})",
                           ::getpid(), *http, *msgpack)
            << std::endl;
  executioner hand{dynamic_cast<actors::system&>(system.service()).shared(), seed};
  for (std::string line; std::getline(std::cin, line);)
    if (line == "kill")
      std::cout << fmt::format(R"({{"killed": "{}"}})", hand.kill_somebody()) << std::endl;
  system.stop(std::chrono::seconds{10});
  std::cout << R"({"stopped": true})" << std::endl;
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> models;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view{argv[i]} == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else
      models.emplace_back(argv[i]);
  }
  if (models.empty()) {
    std::cerr << "usage: chaos_server [--seed N] MODEL...\n";
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("chaos"));
  return run(models, seed);
}
