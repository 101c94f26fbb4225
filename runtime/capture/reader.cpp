#include "runtime/capture/reader.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>

namespace troupe::capture {

namespace {

using nlohmann::json;

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t longest_time = std::int64_t{1} << 60; // nanoseconds: 36 years
constexpr std::int64_t most_rows = std::int64_t{1} << 40;
constexpr std::int64_t most_u32 = std::numeric_limits<std::uint32_t>::max();

// Thrown and caught in this file only: what is wrong with a line.
struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const json& member(const json& of, const char* name) {
  const auto at = of.find(name);
  if (at == of.end())
    throw wrong{fmt::format("\"{}\" is missing", name)};
  return *at;
}

std::int64_t as_integer(const json& value, const char* name, std::int64_t least,
                        std::int64_t largest) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                        : value.is_number_integer();
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > largest)
    throw wrong{fmt::format("\"{}\": expected a whole number from {} to {}", name, least, largest)};
  return value.get<std::int64_t>();
}

std::int64_t integer(const json& of, const char* name, std::int64_t least, std::int64_t largest) {
  return as_integer(member(of, name), name, least, largest);
}

template <class T>
T number(const json& of, const char* name, std::int64_t largest = most) {
  return static_cast<T>(integer(of, name, 0, largest));
}

duration time(const json& of, const char* name) {
  return duration{integer(of, name, 0, longest_time)};
}

bool flag(const json& of, const char* name) {
  const auto& value = member(of, name);
  if (!value.is_boolean())
    throw wrong{fmt::format("\"{}\": expected true or false", name)};
  return value.get<bool>();
}

std::string text(const json& of, const char* name) {
  const auto& value = member(of, name);
  if (!value.is_string())
    throw wrong{fmt::format("\"{}\": expected a string", name)};
  return value.get<std::string>();
}

const json& object(const json& of, const char* name) {
  const auto& value = member(of, name);
  if (!value.is_object())
    throw wrong{fmt::format("\"{}\": expected an object", name)};
  return value;
}

const json& list(const json& of, const char* name) {
  const auto& value = member(of, name);
  if (!value.is_array())
    throw wrong{fmt::format("\"{}\": expected a list", name)};
  return value;
}

header read_header(const json& from) {
  if (!from.contains("troupe_capture"))
    throw wrong{"expected the header of a capture, \"troupe_capture\""};
  const auto version = integer(from, "troupe_capture", 0, most);
  if (version != format_version)
    throw wrong{fmt::format("expected format {}, got {}", format_version, version)};
  header made;
  made.unix_us = integer(from, "unix_us", 0, most);
  for (const auto& one : list(from, "devices")) {
    if (!one.is_object())
      throw wrong{"\"devices\": expected objects"};
    made.devices.push_back(
        {text(one, "name"), text(one, "kind"), static_cast<int>(integer(one, "tickets", 1, 64))});
  }
  if (made.devices.empty())
    throw wrong{"\"devices\": expected at least one"};
  made.max_requests = number<std::size_t>(from, "max_requests");
  made.max_request_bytes = number<std::size_t>(from, "max_request_bytes");
  made.default_deadline = time(from, "deadline_ns");
  made.payloads = from.contains("payloads") && flag(from, "payloads");
  return made;
}

batching::policy read_policy(const json& from) {
  batching::policy made;
  made.min_rows = integer(from, "min_rows", 1, most_rows);
  made.max_wait = time(from, "max_wait_ns");
  made.max_rows = integer(from, "max_rows", 0, most_rows);
  made.work_conserving = flag(from, "work_conserving");
  made.preserve_ordering = flag(from, "preserve_ordering");
  made.aging = time(from, "aging_ns");
  made.adapts = flag(from, "adapts");
  made.objective = time(from, "objective_ns");
  return made;
}

batching::queue_policy read_queue_policy(const json& from) {
  using overdue = batching::queue_policy::overdue;
  batching::queue_policy made;
  made.action = flag(from, "delay") ? overdue::delay : overdue::reject;
  made.timeout = time(from, "timeout_ns");
  made.allow_override = flag(from, "allow_override");
  made.max_requests = integer(from, "max_requests", 0, most);
  return made;
}

batching::priority_rules read_priorities(const json& from) {
  batching::priority_rules made;
  made.levels = number<std::uint32_t>(from, "levels", most_u32);
  made.default_level = number<std::uint32_t>(from, "default_level", most_u32);
  made.standard = read_queue_policy(object(from, "standard"));
  for (const auto& [level, policy] : object(from, "by_level").items()) {
    if (level.empty() || level.size() > 9
        || level.find_first_not_of("0123456789") != std::string::npos || !policy.is_object())
      throw wrong{"\"by_level\": expected policies by number"};
    made.by_level[static_cast<std::uint32_t>(std::stoul(level))] = read_queue_policy(policy);
  }
  return made;
}

model read_model(const json& from) {
  model made;
  made.number = number<std::uint32_t>(from, "model", most_u32);
  made.name = text(from, "name");
  made.version = text(from, "version");
  made.max_batch = integer(from, "max_batch", 0, most_rows);
  made.max_queue_rows = integer(from, "queue_rows", 1, most_rows);
  made.policy = read_policy(object(from, "policy"));
  made.priorities = read_priorities(object(from, "priorities"));
  for (const auto& one : list(from, "devices"))
    made.devices.push_back(static_cast<std::uint32_t>(as_integer(one, "devices", 0, most_u32)));
  return made;
}

shape_of_inputs read_shape(const json& from) {
  shape_of_inputs made;
  made.number = number<std::uint32_t>(from, "shape", most_u32);
  for (const auto& one : list(from, "inputs")) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_array())
      throw wrong{"\"inputs\": expected pairs of a datatype and dims"};
    const auto type = parse_dtype(one[0].get<std::string>());
    if (!type)
      throw wrong{"\"inputs\": expected a datatype"};
    shape dims;
    for (const auto& dim : one[1])
      dims.push_back(as_integer(dim, "inputs", -1, most));
    made.inputs.emplace_back(*type, std::move(dims));
  }
  return made;
}

ask read_ask(const json& from) {
  return {.at = time(from, "at"),
          .number = number<std::uint64_t>(from, "id"),
          .model = number<std::uint32_t>(from, "model", most_u32),
          .shape = number<std::uint32_t>(from, "shape", most_u32),
          .rows = integer(from, "rows", 1, most_rows),
          .priority = number<std::uint64_t>(from, "priority"),
          .deadline = time(from, "deadline_ns"),
          .bytes = number<std::size_t>(from, "bytes")};
}

run read_run(const json& from) {
  return {.at = time(from, "at"),
          .model = number<std::uint32_t>(from, "model", most_u32),
          .device = number<std::uint32_t>(from, "device", most_u32),
          .shape = number<std::uint32_t>(from, "shape", most_u32),
          .requests = integer(from, "requests", 1, most_rows),
          .rows = integer(from, "rows", 1, most_rows),
          .run_rows = integer(from, "run_rows", 1, most_rows),
          .took = time(from, "took_ns")};
}

end read_end(const json& from) {
  end made{.at = time(from, "at"),
           .number = number<std::uint64_t>(from, "id"),
           .code = text(from, "code"),
           .took = time(from, "took_ns")};
  made.ok = made.code == "OK";
  return made;
}

record read(const json& from, bool first) {
  if (!from.is_object())
    throw wrong{"expected a JSON object"};
  if (first)
    return read_header(from);
  const auto what = text(from, "is");
  if (what == "ask")
    return read_ask(from);
  if (what == "run")
    return read_run(from);
  if (what == "end")
    return read_end(from);
  if (what == "turned_away")
    return turned_away{time(from, "at"), number<std::size_t>(from, "bytes")};
  if (what == "model")
    return read_model(from);
  if (what == "shape")
    return read_shape(from);
  if (what == "lost")
    return lost{number<std::uint64_t>(from, "records")};
  if (what == "payloads_lost")
    return payloads_lost{number<std::uint64_t>(from, "requests")};
  throw wrong{"\"is\": expected model, shape, ask, turned_away, run, end, lost or payloads_lost"};
}

} // namespace

// False at the end, also where that is within a line.
bool reader::read_line() {
  line_.clear();
  ++number_;
  auto& source = *from_.rdbuf();
  for (auto c = source.sbumpc(); c != std::char_traits<char>::eof(); c = source.sbumpc()) {
    if (c == '\n')
      return true;
    if (line_.size() == longest_line) {
      too_long_ = true;
      return true;
    }
    line_.push_back(static_cast<char>(c));
  }
  cut_off_ = !line_.empty();
  return false;
}

result<std::optional<record>> reader::next() {
  const bool first = number_ == 0;
  if (!read_line()) {
    if (first)
      return fail(errc::invalid_argument, "line 1: expected the header of a capture");
    return std::optional<record>{};
  }
  if (too_long_)
    return fail(errc::invalid_argument, "line {}: longer than {} bytes", number_, longest_line);
  const auto parsed = json::parse(line_, nullptr, false);
  try {
    if (parsed.is_discarded())
      throw wrong{"expected JSON"};
    return std::optional{read(parsed, first)};
  } catch (const wrong& what) {
    return fail(errc::invalid_argument, "line {}: {}", number_, what.what());
  }
}

} // namespace troupe::capture
