// What a client reads: the results of every method but infer.

#include "protocol/msgpack/decode.hpp"

#include "protocol/msgpack/value.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace troupe::protocol::rpc {
namespace {

using object = ::msgpack::object;

errc code_named(std::string_view name) noexcept {
  for (int code = 0; code <= static_cast<int>(errc::deadline_exceeded); ++code)
    if (to_string(static_cast<errc>(code)) == name)
      return static_cast<errc>(code);
  return errc::internal;
}

/// Reads entries one after another and remembers the first failure, so that a record is one list.
class reader {
public:
  reader(const object& map, std::string_view where) : map_(map), where_(where) {}

  reader& text(std::string_view key, std::string& into) {
    return keep(text_at(map_, where_, key), into);
  }
  reader& flag(std::string_view key, bool& into) { return keep(flag_at(map_, where_, key), into); }
  reader& count(std::string_view key, std::uint64_t& into) {
    return keep(count_at(map_, where_, key), into);
  }
  reader& dims(std::string_view key, std::vector<std::int64_t>& into) {
    return keep(dims_at(map_, where_, key), into);
  }
  reader& time(std::string_view key, duration_statistic& into) {
    return inside(key, [&](reader& r) { r.count("count", into.count).count("ns", into.ns); });
  }
  template <class F>
  reader& inside(std::string_view key, F&& read) {
    const auto* found = value::find(map_, key);
    if (!found || found->type != ::msgpack::type::MAP)
      return reject(fmt::format("{}: \"{}\" must be a map", where_, key));
    reader nested{*found, key};
    read(nested);
    return absorb(nested);
  }
  template <class T, class F>
  reader& list(std::string_view key, std::vector<T>& into, F&& read) {
    auto done = for_each_at(map_, where_, key, [&](const object& each) -> result<void> {
      reader nested{each, key};
      T element{};
      read(nested, element);
      into.push_back(std::move(element));
      return nested.finish();
    });
    if (!done && !failure_)
      failure_ = std::move(done).error();
    return *this;
  }
  [[nodiscard]] result<void> finish() const {
    if (failure_)
      return tl::unexpected<error>{*failure_};
    return {};
  }

private:
  template <class T>
  reader& keep(result<T> read, T& into) {
    if (read)
      into = std::move(*read);
    else if (!failure_)
      failure_ = std::move(read).error();
    return *this;
  }
  reader& reject(std::string text) {
    if (!failure_)
      failure_ = error{errc::invalid_argument, std::move(text)};
    return *this;
  }
  reader& absorb(const reader& nested) {
    if (!failure_)
      failure_ = nested.failure_;
    return *this;
  }

  const object& map_;
  std::string_view where_;
  std::optional<error> failure_;
};

template <class T>
result<T> finish(const reader& from, T&& read) {
  if (auto done = from.finish(); !done)
    return propagate(done);
  return std::forward<T>(read);
}

void read_tensor(reader& from, tensor_metadata& into) {
  from.text("name", into.name).text("datatype", into.datatype).dims("shape", into.shape);
}

} // namespace

result<error> decode_error(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  error read;
  std::string code;
  reader from{parsed->root(), "error"};
  from.text("code", code).text("text", read.text);
  read.code = code_named(code);
  if (value::find(parsed->root(), "retry_after_ms")) {
    std::uint64_t wait = 0;
    from.count("retry_after_ms", wait);
    read.retry_after_ms = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(wait, std::numeric_limits<std::uint32_t>::max()));
  }
  return finish(from, std::move(read));
}

result<health> decode_health(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  health read;
  std::uint64_t protocol = 0;
  reader from{parsed->root(), "health"};
  from.flag("live", read.live)
      .flag("ready", read.ready)
      .count("protocol", protocol)
      .text("server", read.server)
      .text("version", read.version);
  read.protocol = static_cast<std::int64_t>(protocol);
  if (value::find(parsed->root(), "model_ready")) {
    bool ready = false;
    from.flag("model_ready", ready);
    read.model_ready = ready;
  }
  return finish(from, std::move(read));
}

result<model_metadata> decode_metadata(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  const auto& map = parsed->root();
  model_metadata read;
  reader from{map, "metadata"};
  from.text("name", read.name)
      .text("platform", read.platform)
      .list("inputs", read.inputs, read_tensor)
      .list("outputs", read.outputs, read_tensor);
  auto done = for_each_at(map, "metadata", "versions", [&](const object& each) -> result<void> {
    if (each.type != ::msgpack::type::STR)
      return fail(errc::invalid_argument, "metadata: \"versions\" must hold strings");
    read.versions.emplace_back(each.via.str.ptr, each.via.str.size);
    return {};
  });
  if (!done)
    return propagate(done);
  if (const auto* found = value::find(map, "properties");
      found && found->type == ::msgpack::type::MAP)
    for (const auto& entry : found->via.map)
      if (entry.key.type == ::msgpack::type::STR && entry.val.type == ::msgpack::type::STR)
        read.properties.insert_or_assign(
            std::string{entry.key.via.str.ptr, entry.key.via.str.size},
            std::string{entry.val.via.str.ptr, entry.val.via.str.size});
  return finish(from, std::move(read));
}

result<std::vector<model_index_entry>> decode_index(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  if (parsed->root().type != ::msgpack::type::ARRAY)
    return fail(errc::invalid_argument, "models: expected an array");
  std::vector<model_index_entry> read;
  for (const auto& each : parsed->root().via.array) {
    model_index_entry entry;
    reader from{each, "models"};
    from.text("name", entry.name)
        .text("version", entry.version)
        .text("state", entry.state)
        .text("reason", entry.reason);
    if (auto done = from.finish(); !done)
      return propagate(done);
    read.push_back(std::move(entry));
  }
  return read;
}

result<std::vector<model_statistics>> decode_statistics(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  std::vector<model_statistics> read;
  reader from{parsed->root(), "stats"};
  from.list("model_stats", read, [](reader& each, model_statistics& into) {
    each.text("name", into.name)
        .text("version", into.version)
        .count("inference_count", into.inference_count)
        .count("execution_count", into.execution_count)
        .count("live_sequences", into.live_sequences)
        .inside("inference_stats",
                [&](reader& times) {
                  times.time("success", into.success)
                      .time("fail", into.fail)
                      .time("queue", into.queue)
                      .time("compute_input", into.compute_input)
                      .time("compute_infer", into.compute_infer)
                      .time("compute_output", into.compute_output);
                })
        .list("batch_stats", into.batches, [](reader& batch, batch_statistic& one) {
          batch.count("batch_size", one.batch_size).time("compute_infer", one.compute_infer);
        });
  });
  return finish(from, std::move(read));
}

} // namespace troupe::protocol::rpc
