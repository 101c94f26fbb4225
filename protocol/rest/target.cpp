#include "protocol/rest/target.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace troupe::protocol::rest {
namespace {

constexpr std::size_t max_segments = 8;

int hex(char digit) noexcept {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F')
    return digit - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
      return std::nullopt;
    plain += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return plain;
}

using segments = std::vector<std::string>;

/// Empty if the path is too long, badly encoded or has an empty segment other than the last.
result<segments> split(std::string_view path) {
  segments found;
  if (path.empty() || path.front() != '/')
    return fail(errc::invalid_argument, "a request's target begins with \"/\"");
  path.remove_prefix(1);
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    auto segment = percent_decoded(path.substr(0, end));
    if (!segment)
      return fail(errc::invalid_argument, "bad percent-encoding in the target");
    if (segment->empty() || found.size() == max_segments)
      return fail(errc::not_found, "Not Found");
    found.push_back(std::move(*segment));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return found;
}

result<route> model_route(segments parts) {
  // v2 models M [versions V] [action]
  route to;
  to.model = std::move(parts[2]);
  std::size_t at = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    at = 5;
    to.version = std::move(parts[4]);
    if (!std::all_of(to.version.begin(), to.version.end(),
                     [](char c) { return c >= '0' && c <= '9'; }))
      return fail(errc::invalid_argument, "model version \"{}\" is not a number", to.version);
  }
  if (at == parts.size()) {
    to.what = endpoint::model_metadata;
    return to;
  }
  if (at + 1 == parts.size()) {
    const auto& action = parts[at];
    if (action == "infer")
      to.what = endpoint::infer;
    else if (action == "ready")
      to.what = endpoint::model_ready;
    else if (action == "stats")
      to.what = endpoint::statistics;
    else
      return fail(errc::not_found, "Not Found");
    return to;
  }
  return fail(errc::not_found, "Not Found");
}

} // namespace

std::string_view method_of(endpoint what) noexcept {
  switch (what) {
    case endpoint::infer:
    case endpoint::index:
    case endpoint::load:
    case endpoint::unload: return "POST";
    default: return "GET";
  }
}

result<route> parse_target(std::string_view target) {
  auto parts = split(target.substr(0, target.find('?')));
  if (!parts)
    return propagate(parts);
  const auto is = [&](std::initializer_list<std::string_view> path) {
    return std::equal(parts->begin(), parts->end(), path.begin(), path.end());
  };
  if (is({"v2"}))
    return route{endpoint::server_metadata, {}, {}};
  if (is({"v2", "health", "live"}))
    return route{endpoint::live, {}, {}};
  if (is({"v2", "health", "ready"}))
    return route{endpoint::ready, {}, {}};
  if (is({"v2", "models", "stats"}))
    return route{endpoint::statistics, {}, {}};
  if (is({"v2", "repository", "index"}))
    return route{endpoint::index, {}, {}};
  if (parts->size() == 5 && (*parts)[0] == "v2" && (*parts)[1] == "repository"
      && (*parts)[2] == "models") {
    if ((*parts)[4] == "load")
      return route{endpoint::load, std::move((*parts)[3]), {}};
    if ((*parts)[4] == "unload")
      return route{endpoint::unload, std::move((*parts)[3]), {}};
  }
  if (parts->size() >= 3 && (*parts)[0] == "v2" && (*parts)[1] == "models")
    return model_route(std::move(*parts));
  return fail(errc::not_found, "Not Found");
}

} // namespace troupe::protocol::rest
