#include "bench/serve/replay.hpp"

#include "runtime/capture/reader.hpp"

#include <algorithm>
#include <fstream>
#include <unordered_map>

namespace troupe::bench {

namespace {

using arrivals = std::unordered_map<std::uint64_t, duration>; // by number

result<arrivals> arrivals_of(const std::filesystem::path& file) {
  std::ifstream from{file, std::ios::binary};
  if (!from)
    return fail(errc::not_found, "{}: cannot be read", file.string());
  arrivals made;
  capture::reader records{from};
  for (;;) {
    const auto next = records.next();
    if (!next)
      return fail(next.error().code, "{}: {}", file.string(), next.error().text);
    if (!*next)
      return made;
    const auto* about = std::get_if<capture::header>(&**next);
    if (about && !about->payloads)
      return fail(errc::invalid_argument,
                  "{}: was captured without payloads: the server keeps them with "
                  "--capture-payloads",
                  file.string());
    if (const auto* asked = std::get_if<capture::ask>(&**next))
      made.insert_or_assign(asked->number, asked->at);
  }
}

} // namespace

result<replay> replay::open(const std::filesystem::path& file, double speed) {
  const auto came = arrivals_of(file);
  if (!came)
    return propagate(came);
  auto from = protocol::rpc::recorded_requests::open(file.string() + ".requests");
  if (!from)
    return propagate(from);
  replay made{std::move(*from)};
  for (const auto& one : made.from_.entries())
    if (const auto at = came->find(one.id); at != came->end())
      made.due_.push_back({at->second, one});
  if (made.due_.empty())
    return fail(errc::invalid_argument,
                "{}: there is nothing to replay: no request has its payload", file.string());
  std::stable_sort(made.due_.begin(), made.due_.end(),
                   [](const due& a, const due& b) { return a.at < b.at; });
  made.without_payload_ = came->size() - std::min(came->size(), made.due_.size());
  const auto first = made.due_.front().at;
  using ns = std::chrono::duration<double, std::nano>;
  constexpr ns latest{1e18}; // 31 years
  for (auto& one : made.due_)
    one.at = std::chrono::duration_cast<duration>(std::min(ns{one.at - first} / speed, latest));
  return made;
}

result<std::optional<timed_request>> replay::next() {
  if (next_ == due_.size())
    return std::optional<timed_request>{};
  const auto& [at, what] = due_[next_++];
  auto request = from_.load(what);
  if (!request)
    return propagate(std::move(request));
  return timed_request{at, std::move(*request)};
}

} // namespace troupe::bench
