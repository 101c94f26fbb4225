// `troupe serve`: models behind network protocols.

#include "actors/troupe.hpp"
#include "apps/ocr/pipeline/pipeline.hpp"
#include "apps/troupe/commands.hpp"
#include "apps/troupe/config_file.hpp"
#include "apps/troupe/stop_signals.hpp"
#include "protocol/msgpack/listener.hpp"
#include "protocol/rest/listener.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace troupe::cli {

namespace {

namespace fs = std::filesystem;

struct settings {
  std::vector<std::string> models;
  std::string repository;
  std::string tuning;
  std::string config;
  std::string host = "127.0.0.1";
  std::uint16_t http_port = 8000;
  std::uint16_t msgpack_port = 8003;
  std::uint16_t grpc_port = 0;
  std::uint16_t metrics_port = 0;
  std::vector<std::string> devices{"cpu"};
  std::string control = "none";
  std::string load = "eager";
  std::string error_codes = "troupe";
  std::string log_level = "info";
  std::int64_t max_wait_us = 0;
  std::int64_t slo_ms = 0;
  double drain_delay = 0;
  double drain_timeout = 30;
  std::size_t deadline_ms = 60'000;
  int io_threads = 1;
  std::size_t max_connections = 1024;
  std::size_t max_unsent_bytes = protocol::listener_options{}.max_unsent_bytes;
  std::optional<double> idle_timeout;
  double device_silence = 30;
  bool json = false;
  options with;
};

// "DIR/resnet50.onnx" is served as resnet50, "DIR/resnet50/" too.
std::string name_of(const fs::path& path) {
  const auto plain = path.filename().empty() ? path.parent_path() : path;
  return fs::is_directory(plain) ? plain.filename().string() : plain.stem().string();
}

options to_options(const settings& from) {
  options with = from.with;
  with.devices = from.devices;
  with.model_repository = from.repository;
  with.tuning_file = from.tuning;
  with.batching.objective = std::chrono::milliseconds{from.slo_ms};
  with.batching.max_wait = std::chrono::microseconds{from.max_wait_us};
  with.default_deadline = std::chrono::milliseconds{from.deadline_ms};
  with.device_silence =
      std::chrono::milliseconds{static_cast<std::int64_t>(from.device_silence * 1000)};
  with.clients_may_load = from.control == "explicit";
  with.load_on_miss = from.load == "lazy";
  with.load_all = from.load == "eager" && from.control != "explicit";
  return with;
}

result<void> load_all(runtime& in, const std::vector<std::string>& files) {
  std::vector<std::thread> loads;
  std::vector<result<void>> outcomes(files.size());
  for (std::size_t i = 0; i < files.size(); ++i)
    loads.emplace_back([&, i] { outcomes[i] = in.load(name_of(files[i]), files[i]); });
  for (auto& one : loads)
    one.join();
  for (auto& outcome : outcomes)
    if (!outcome)
      return outcome;
  return {};
}

// Pipelines last: the models and stages they call are there then.
result<void> load_models(runtime& in, const settings& from) {
  std::vector<std::string> models;
  std::vector<std::string> pipelines;
  for (const auto& file : from.models)
    (fs::path{file}.extension() == ".toml" ? pipelines : models).push_back(file);
  if (auto ok = load_all(in, models); !ok)
    return ok;
  if (ocr::has_networks(in))
    if (auto ok = ocr::register_pipeline(in); !ok)
      return ok;
  for (const auto& file : pipelines) // one may call another that comes before it
    if (auto ok = in.load(name_of(file), file); !ok)
      return ok;
  return {};
}

struct addresses {
  std::string http;
  std::string msgpack;
};

result<addresses> open_listeners(runtime& in, const settings& from) {
  protocol::listener_options http{.host = from.host, .port = from.http_port};
  http.threads = from.io_threads;
  http.max_connections = from.max_connections;
  http.max_unsent_bytes = from.max_unsent_bytes;
  auto msgpack = http;
  msgpack.port = from.msgpack_port;
  protocol::rest_options rest;
  rest.triton_error_codes = from.error_codes == "triton";
  protocol::rpc::limits rpc;
  if (from.idle_timeout)
    rest.limits.idle_time = rpc.idle_time =
        std::chrono::milliseconds{static_cast<std::int64_t>(*from.idle_timeout * 1000)};
  auto http_port = in.open(std::make_unique<protocol::rest_listener>(in.service(), http, rest));
  if (!http_port)
    return fail(http_port.error().code, "HTTP: {}", http_port.error().text);
  auto msgpack_port =
      in.open(std::make_unique<protocol::msgpack_listener>(in.service(), msgpack, rpc));
  if (!msgpack_port)
    return fail(msgpack_port.error().code, "msgpack: {}", msgpack_port.error().text);
  return addresses{fmt::format("{}:{}", from.host, *http_port),
                   fmt::format("{}:{}", from.host, *msgpack_port)};
}

void say_ready(const addresses& at, const settings& from) {
  if (from.json) {
    const nlohmann::json line{
        {"ready", true}, {"pid", ::getpid()}, {"http", at.http}, {"msgpack", at.msgpack}};
    std::puts(line.dump().c_str());
  } else {
    std::puts(fmt::format("ready: http {}, msgpack {}", at.http, at.msgpack).c_str());
  }
  std::fflush(stdout);
}

// The soft limit of descriptors is 1024 as a rule, each connection takes one.
void allow_many_descriptors() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max)
    return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void stop(runtime& running, stop_signals& signals, const settings& from) {
  spdlog::info("stopping: no longer ready, serving on for {} s", from.drain_delay);
  running.set_unready();
  signals.pause(std::chrono::duration<double>{from.drain_delay});
  signals.on_second([&running] { running.hurry(); });
  running.stop(std::chrono::milliseconds{static_cast<std::int64_t>(from.drain_timeout * 1000)});
  signals.on_second({});
  spdlog::info("stopped");
}

int serve(const settings& from) {
  auto log = spdlog::stderr_logger_mt("troupe");
  log->set_level(spdlog::level::from_str(from.log_level));
  log->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  spdlog::set_default_logger(log);
  for (const auto& [port, what] :
       {std::pair{from.grpc_port, "gRPC"}, std::pair{from.metrics_port, "the metrics endpoint"}})
    if (port != 0)
      return fail({errc::unimplemented, fmt::format("{} is not built yet: no port for it can be "
                                                    "opened",
                                                    what)});
  stop_signals signals;
  std::signal(SIGPIPE, SIG_IGN);
  allow_many_descriptors();

  auto running = runtime::start(to_options(from));
  if (!running)
    return fail(running.error());
  if (auto loaded = load_models(**running, from); !loaded)
    return fail(loaded.error());
  auto at = open_listeners(**running, from);
  if (!at)
    return fail(at.error());
  say_ready(*at, from);
  signals.wait();
  stop(**running, signals, from);
  return 0;
}

} // namespace

action add_serve(CLI::App& command) {
  auto from = std::make_shared<settings>();
  command
      .add_option("models", from->models,
                  "Models to serve beside the repository: an ONNX file, a folder laid out as in a "
                  "repository, or a pipeline's TOML file; served under the name of the file or "
                  "folder")
      ->check(CLI::ExistingPath);
  command
      .add_option("--model-repository,--model-store,--models", from->repository,
                  "Folder of models: DIR/<model>/<version>/model.onnx, optional config.pbtxt; "
                  "DIR/<pipeline>/pipeline.toml")
      ->check(CLI::ExistingDirectory);
  command
      .add_option("--config", from->config,
                  "TOML file: keys are the names of these options; the command line wins")
      ->check(CLI::ExistingFile);
  command.add_option("--host", from->host, "Address to listen on")->capture_default_str();
  command.add_option("--http-port", from->http_port, "KServe v2 over HTTP; 0 picks a free port")
      ->capture_default_str();
  command.add_option("--msgpack-port", from->msgpack_port, "msgpack over TCP; 0 picks a free port")
      ->capture_default_str();
  command.add_option("--grpc-port", from->grpc_port, "Not built yet; only 0 (none) is accepted");
  command.add_option("--metrics-port", from->metrics_port,
                     "Not built yet; only 0 (none) is accepted");
  command
      .add_option("--device", from->devices,
                  "Where models run: cpu[:threads=N,memory=BYTES], "
                  "sim[:launch_us=N,row_us=N,…]; may be repeated")
      ->capture_default_str();
  command
      .add_option("--device-failures", from->with.device_failures,
                  "Failures in a row after which a device gets no work until it passes a probe")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--device-silence", from->device_silence,
                  "Seconds, and at least ten times what is usual, after which a device that does "
                  "not finish a batch is given up and restarted")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  command.add_option("--batching", from->with.batching.preset, "How requests become batches")
      ->check(CLI::IsMember({"auto", "latency", "throughput", "explicit"}))
      ->capture_default_str();
  command
      .add_option("--slo-ms", from->slo_ms,
                  "auto: from arrival to answer; batches stay small enough to keep to it. 0: none")
      ->check(CLI::Range(0, 3'600'000));
  command.add_option("--min-batch", from->with.batching.min_batch,
                     "explicit: rows that leave at once");
  command.add_option("--max-wait-us", from->max_wait_us,
                     "explicit: longest wait of the oldest request, microseconds");
  command.add_option("--max-batch", from->with.batching.max_batch, "Rows of one batch")
      ->capture_default_str();
  command.add_option("--max-queue-rows", from->with.max_queue_rows, "Rows that may wait per model")
      ->capture_default_str();
  command
      .add_option("--max-requests", from->with.max_requests,
                  "Requests accepted and unanswered at once")
      ->capture_default_str();
  command
      .add_option("--max-request-bytes", from->with.max_request_bytes,
                  "Payload of those requests together")
      ->capture_default_str();
  command.add_option("--pinned-memory-bytes", from->with.pinned_memory_bytes,
                     "Page-locked host memory for the inputs and outputs of the batches on each "
                     "device whose memory the host cannot see; 0: a quarter of the device's, at "
                     "most 512 MiB");
  command.add_option("--plan-memory-bytes", from->with.plan_memory_bytes,
                     "Plans of all models together, about; those longest unused leave; 0: a 32nd "
                     "of the device's memory, at least 64 MiB");
  command.add_option("--deadline-ms", from->deadline_ms, "For requests that bring no deadline")
      ->capture_default_str();
  command
      .add_option(
          "--model-control-mode", from->control,
          "none: the repository is loaded at start and stays; explicit: nothing is loaded at "
          "start, clients load and unload")
      ->check(CLI::IsMember({"none", "explicit"}))
      ->capture_default_str();
  command
      .add_option(
          "--load", from->load,
          "eager: the repository is loaded at start; lazy: a model when it is first asked for")
      ->check(CLI::IsMember({"eager", "lazy"}))
      ->capture_default_str();
  command
      .add_option("--drain-delay", from->drain_delay,
                  "Seconds to serve on, not ready, after SIGTERM, SIGINT or SIGHUP")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command
      .add_option(
          "--drain-timeout", from->drain_timeout,
          "Seconds after that in which accepted requests are answered; a second signal ends them")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command
      .add_option("--error-codes", from->error_codes,
                  "triton: overload and queue timeout are answered with 503")
      ->check(CLI::IsMember({"troupe", "triton"}))
      ->capture_default_str();
  command
      .add_option("--scheduler-threads", from->with.scheduler_threads,
                  "Threads for the actors that route and batch")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_option("--io-threads", from->io_threads, "Threads of each listener")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_option("--max-connections", from->max_connections, "Connections of each listener")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  command
      .add_option("--max-unsent-bytes", from->max_unsent_bytes,
                  "Answers that the clients of a listener leave untaken, together; beyond, those "
                  "that take nothing for a second are cut")
      ->capture_default_str();
  command
      .add_option("--idle-timeout", from->idle_timeout,
                  "Seconds after which a connection without a request is closed; 0: never "
                  "(default: HTTP 120, msgpack 600)")
      ->check(CLI::Range(0.0, 1e9));
  command
      .add_option("--tune", from->tuning,
                  "Measure kernels where several would do, and keep the choices in this file: "
                  "the first plan for new shapes takes seconds, then never again")
      ->type_name("FILE");
  command
      .add_option("--capture", from->with.capture_file,
                  "Write arrivals, batches and their times to this file, for `troupe simulate`; no "
                  "payloads unless asked for")
      ->type_name("FILE");
  command.add_flag("--capture-payloads", from->with.capture_payloads,
                   "Also what was asked, to FILE.requests, for `troupe-load --replay`: users' data "
                   "lies in that file");
  command
      .add_option("--capture-payload-bytes", from->with.capture_payload_bytes,
                  "Largest size of that file; requests beyond are not kept")
      ->capture_default_str();
  command.add_flag("--batch-invariant", from->with.batch_invariant,
                   "The same bits for a row in any batch, on any number of threads");
  command.add_option("--log-level", from->log_level, "Least severe message to log")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  command.add_flag("--json", from->json, "Print the ready line as JSON");
  return [from, &command] {
    if (!from->config.empty())
      if (auto ok = apply_config_file(command, from->config); !ok)
        throw usage_error("serve: " + ok.error().text);
    if (from->models.empty() && from->repository.empty())
      throw usage_error("serve: nothing to serve: name a model or a --model-repository");
    return serve(*from);
  };
}

} // namespace troupe::cli
