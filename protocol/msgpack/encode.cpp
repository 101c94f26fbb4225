#include "protocol/msgpack/encode.hpp"

#include <msgpack.hpp>

namespace troupe::protocol::rpc {
namespace {

struct text_stream {
  std::string* to;
  void write(const char* bytes, std::size_t count) { to->append(bytes, count); }
};

using packer = ::msgpack::packer<text_stream>;

/// MessagePack's writer with the few shapes that this protocol has.
class writer {
public:
  explicit writer(outgoing_frame& frame) : stream_{&frame.text()}, out_(stream_) {}

  writer& array(std::size_t count) {
    out_.pack_array(static_cast<std::uint32_t>(count));
    return *this;
  }
  writer& map(std::size_t count) {
    out_.pack_map(static_cast<std::uint32_t>(count));
    return *this;
  }
  writer& value(std::string_view text) {
    out_.pack_str(static_cast<std::uint32_t>(text.size()));
    out_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
    return *this;
  }
  writer& value(const char* text) { return value(std::string_view(text)); }
  writer& value(bool flag) {
    flag ? out_.pack_true() : out_.pack_false();
    return *this;
  }
  writer& value(std::int64_t number) {
    out_.pack_int64(number);
    return *this;
  }
  writer& value(std::uint64_t number) {
    out_.pack_uint64(number);
    return *this;
  }
  writer& value(double number) {
    out_.pack_double(number);
    return *this;
  }
  writer& nil() {
    out_.pack_nil();
    return *this;
  }
  template <class T>
  writer& entry(std::string_view key, const T& held) {
    return value(key).value(held);
  }
  writer& entry(std::string_view key, const duration_statistic& held) {
    return value(key).map(2).entry("count", held.count).entry("ns", held.ns);
  }
  writer& dims(std::string_view key, std::span<const std::int64_t> held) {
    value(key).array(held.size());
    for (const auto size : held)
      value(size);
    return *this;
  }
  writer& parameters(const parameter_map& held) {
    value("parameters").map(held.size());
    for (const auto& [name, each] : held) {
      value(name);
      std::visit([this](const auto& alternative) { write_parameter(alternative); }, each);
    }
    return *this;
  }
  void bin(std::size_t bytes) { out_.pack_bin(static_cast<std::uint32_t>(bytes)); }

private:
  void write_parameter(const std::string& text) { value(text); }
  template <class T>
  void write_parameter(T number) {
    value(number);
  }

  text_stream stream_;
  packer out_;
};

void open_request(writer& out, std::uint32_t id, std::string_view method) {
  out.array(4).value(std::uint64_t{0}).value(std::uint64_t{id}).value(method);
}

writer& open_response(writer& out, std::uint32_t id) {
  return out.array(4).value(std::uint64_t{1}).value(std::uint64_t{id}).nil();
}

void write_tensors(writer& out, std::string_view key, const std::vector<named_tensor>& tensors) {
  out.value(key).array(tensors.size());
  for (const auto& [name, value, parameters] : tensors) {
    out.map(parameters.empty() ? 4 : 5)
        .entry("name", name)
        .entry("datatype", to_string(value.type))
        .dims("shape", value.dims)
        .entry("byte_size", static_cast<std::uint64_t>(value.data.size()));
    if (!parameters.empty())
      out.parameters(parameters);
  }
}

void write_payloads(writer& out, outgoing_frame& frame, const std::vector<named_tensor>& tensors) {
  for (const auto& each : tensors) {
    out.bin(each.value.data.size());
    frame.append(each.value.data);
  }
}

void write_metadata(writer& out, std::string_view key,
                    const std::vector<tensor_metadata>& tensors) {
  out.value(key).array(tensors.size());
  for (const auto& each : tensors)
    out.map(3).entry("name", each.name).entry("datatype", each.datatype).dims("shape", each.shape);
}

void write_error(writer& out, const error& failure) {
  out.map(failure.retry_after_ms > 0 ? 3 : 2)
      .entry("code", to_string(failure.code))
      .entry("text", failure.text);
  if (failure.retry_after_ms > 0)
    out.entry("retry_after_ms", std::uint64_t{failure.retry_after_ms});
}

} // namespace

outgoing_frame encode_infer_request(std::uint32_t id, const inference_request& asked) {
  outgoing_frame frame;
  writer out{frame};
  open_request(out, id, "infer");
  out.array(1 + asked.inputs.size());
  out.map(2 + !asked.model_version.empty() + !asked.id.empty() + !asked.parameters.empty()
          + !asked.outputs.empty());
  out.entry("model_name", asked.model_name);
  if (!asked.model_version.empty())
    out.entry("model_version", asked.model_version);
  if (!asked.id.empty())
    out.entry("id", asked.id);
  if (!asked.parameters.empty())
    out.parameters(asked.parameters);
  write_tensors(out, "inputs", asked.inputs);
  if (!asked.outputs.empty()) {
    out.value("outputs").array(asked.outputs.size());
    for (const auto& each : asked.outputs) {
      out.map(each.parameters.empty() ? 1 : 2).entry("name", each.name);
      if (!each.parameters.empty())
        out.parameters(each.parameters);
    }
  }
  write_payloads(out, frame, asked.inputs);
  return frame;
}

outgoing_frame encode_request(std::uint32_t id, std::string_view method, std::string_view model,
                              std::string_view version) {
  outgoing_frame frame;
  writer out{frame};
  open_request(out, id, method);
  if (model.empty()) {
    out.array(0);
    return frame;
  }
  out.array(1).map(version.empty() ? 1 : 2).entry("model_name", model);
  if (!version.empty())
    out.entry("model_version", version);
  return frame;
}

outgoing_frame encode_cancel(std::uint32_t id) {
  outgoing_frame frame;
  writer out{frame};
  out.array(3).value(std::uint64_t{2}).value("cancel");
  out.array(1).map(1).entry("id", std::uint64_t{id});
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, const inference_response& answer) {
  for (const auto& each : answer.outputs)
    if (each.value.data.size() > max_bin_bytes)
      return encode_error(id, {errc::resource_exhausted,
                               fmt::format("output \"{}\" has {} bytes, more than a bin can hold",
                                           each.name, each.value.data.size())});
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).array(1 + answer.outputs.size());
  out.map(3 + !answer.id.empty() + !answer.parameters.empty())
      .entry("model_name", answer.model_name)
      .entry("model_version", answer.model_version);
  if (!answer.id.empty())
    out.entry("id", answer.id);
  if (!answer.parameters.empty())
    out.parameters(answer.parameters);
  write_tensors(out, "outputs", answer.outputs);
  write_payloads(out, frame, answer.outputs);
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, const health& answer) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id)
      .map(answer.model_ready ? 6 : 5)
      .entry("live", answer.live)
      .entry("ready", answer.ready)
      .entry("protocol", answer.protocol)
      .entry("server", answer.server)
      .entry("version", answer.version);
  if (answer.model_ready)
    out.entry("model_ready", *answer.model_ready);
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, const model_metadata& answer) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).map(answer.properties.empty() ? 5 : 6);
  out.entry("name", answer.name);
  out.value("versions").array(answer.versions.size());
  for (const auto& version : answer.versions)
    out.value(version);
  out.entry("platform", answer.platform);
  write_metadata(out, "inputs", answer.inputs);
  write_metadata(out, "outputs", answer.outputs);
  if (!answer.properties.empty()) {
    out.value("properties").map(answer.properties.size());
    for (const auto& [key, text] : answer.properties)
      out.entry(key, text);
  }
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, const std::vector<model_index_entry>& answer) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).array(answer.size());
  for (const auto& each : answer)
    out.map(4)
        .entry("name", each.name)
        .entry("version", each.version)
        .entry("state", each.state)
        .entry("reason", each.reason);
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, const std::vector<model_statistics>& answer) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).map(1).value("model_stats").array(answer.size());
  for (const auto& each : answer) {
    out.map(7)
        .entry("name", each.name)
        .entry("version", each.version)
        .entry("inference_count", each.inference_count)
        .entry("execution_count", each.execution_count)
        .entry("live_sequences", each.live_sequences);
    out.value("inference_stats")
        .map(6)
        .entry("success", each.success)
        .entry("fail", each.fail)
        .entry("queue", each.queue)
        .entry("compute_input", each.compute_input)
        .entry("compute_infer", each.compute_infer)
        .entry("compute_output", each.compute_output);
    out.value("batch_stats").array(each.batches.size());
    for (const auto& batch : each.batches)
      out.map(2).entry("batch_size", batch.batch_size).entry("compute_infer", batch.compute_infer);
  }
  return frame;
}

outgoing_frame encode_response(std::uint32_t id, bool answer) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).value(answer);
  return frame;
}

outgoing_frame encode_nil(std::uint32_t id) {
  outgoing_frame frame;
  writer out{frame};
  open_response(out, id).nil();
  return frame;
}

outgoing_frame encode_error(std::uint32_t id, const error& failure) {
  outgoing_frame frame;
  writer out{frame};
  out.array(4).value(std::uint64_t{1}).value(std::uint64_t{id});
  write_error(out, failure);
  out.nil();
  return frame;
}

outgoing_frame encode_notice(const error& failure) {
  outgoing_frame frame;
  writer out{frame};
  out.array(3).value(std::uint64_t{2}).value("error").array(1);
  write_error(out, failure);
  return frame;
}

} // namespace troupe::protocol::rpc
