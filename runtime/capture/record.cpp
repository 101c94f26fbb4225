#include "runtime/capture/record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace troupe::capture {

namespace {

using nlohmann::json;

json policy_as_json(const batching::policy& of) {
  return {{"min_rows", of.min_rows},
          {"max_wait_ns", of.max_wait.count()},
          {"max_rows", of.max_rows},
          {"work_conserving", of.work_conserving},
          {"preserve_ordering", of.preserve_ordering},
          {"aging_ns", of.aging.count()},
          {"adapts", of.adapts},
          {"objective_ns", of.objective.count()}};
}

json queue_as_json(const batching::queue_policy& of) {
  return {{"delay", of.action == batching::queue_policy::overdue::delay},
          {"timeout_ns", of.timeout.count()},
          {"allow_override", of.allow_override},
          {"max_requests", of.max_requests}};
}

json priorities_as_json(const batching::priority_rules& of) {
  auto by_level = json::object();
  for (const auto& [level, policy] : of.by_level)
    by_level[std::to_string(level)] = queue_as_json(policy);
  return {{"levels", of.levels},
          {"default_level", of.default_level},
          {"standard", queue_as_json(of.standard)},
          {"by_level", std::move(by_level)}};
}

// Names come from outside: what is no UTF-8 in them is replaced, the line stays readable.
std::string as_line(const json& of) {
  return of.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

struct writer {
  std::string operator()(const header& of) const {
    auto devices = json::array();
    for (const auto& one : of.devices)
      devices.push_back({{"name", one.name}, {"kind", one.kind}, {"tickets", one.tickets}});
    return as_line({{"troupe_capture", format_version},
                    {"unix_us", of.unix_us},
                    {"devices", std::move(devices)},
                    {"max_requests", of.max_requests},
                    {"max_request_bytes", of.max_request_bytes},
                    {"deadline_ns", of.default_deadline.count()},
                    {"payloads", of.payloads}});
  }
  std::string operator()(const model& of) const {
    return as_line({{"is", "model"},
                    {"model", of.number},
                    {"name", of.name},
                    {"version", of.version},
                    {"max_batch", of.max_batch},
                    {"queue_rows", of.max_queue_rows},
                    {"policy", policy_as_json(of.policy)},
                    {"priorities", priorities_as_json(of.priorities)},
                    {"devices", of.devices}});
  }
  std::string operator()(const shape_of_inputs& of) const {
    auto inputs = json::array();
    for (const auto& [type, dims] : of.inputs)
      inputs.push_back(
          {std::string{to_string(type)}, std::vector<std::int64_t>(dims.begin(), dims.end())});
    return as_line({{"is", "shape"}, {"shape", of.number}, {"inputs", std::move(inputs)}});
  }
  // The frequent ones: nothing in them needs escaping.
  std::string operator()(const ask& of) const {
    return fmt::format(R"({{"is":"ask","at":{},"id":{},"model":{},"shape":{},"rows":{},)"
                       R"("priority":{},"deadline_ns":{},"bytes":{}}})"
                       "\n",
                       of.at.count(), of.number, of.model, of.shape, of.rows, of.priority,
                       of.deadline.count(), of.bytes);
  }
  std::string operator()(const turned_away& of) const {
    return fmt::format(R"({{"is":"turned_away","at":{},"bytes":{}}})"
                       "\n",
                       of.at.count(), of.bytes);
  }
  std::string operator()(const run& of) const {
    return fmt::format(R"({{"is":"run","at":{},"model":{},"device":{},"shape":{},"requests":{},)"
                       R"("rows":{},"run_rows":{},"took_ns":{}}})"
                       "\n",
                       of.at.count(), of.model, of.device, of.shape, of.requests, of.rows,
                       of.run_rows, of.took.count());
  }
  std::string operator()(const end& of) const {
    return fmt::format(R"({{"is":"end","at":{},"id":{},"code":"{}","took_ns":{}}})"
                       "\n",
                       of.at.count(), of.number, of.ok ? "OK" : of.code, of.took.count());
  }
  std::string operator()(const lost& of) const {
    return fmt::format(R"({{"is":"lost","records":{}}})"
                       "\n",
                       of.records);
  }
  std::string operator()(const payloads_lost& of) const {
    return fmt::format(R"({{"is":"payloads_lost","requests":{}}})"
                       "\n",
                       of.requests);
  }
};

} // namespace

std::string to_line(const record& of) {
  return std::visit(writer{}, of);
}

} // namespace troupe::capture
