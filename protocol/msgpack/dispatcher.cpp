#include "protocol/msgpack/dispatcher.hpp"

#include "protocol/server_identity.hpp"
#include "protocol/tensor_check.hpp"

#include <new>
#include <utility>

namespace troupe::protocol::rpc {

dispatcher::dispatcher(service& behind, send_fn send, post_fn post)
    : service_(behind), send_(std::move(send)), post_(std::move(post)) {}

result<void> dispatcher::open(const frame_head& head) {
  if (head.kind == frame_kind::response)
    return fail(errc::invalid_argument, "only a server sends responses");
  if (head.kind == frame_kind::notification)
    return {};
  if (!calls_.try_emplace(head.id).second)
    return fail(errc::invalid_argument, "id {} is already in flight", head.id);
  const auto method = decode_string(head.method);
  if (method && *method == "infer")
    open_infer(head);
  return {};
}

void dispatcher::open_infer(const frame_head& head) {
  if (refusing_)
    return answer(head.id, error{errc::unavailable, "the server is draining"});
  if (head.parameters == 0)
    return answer(head.id, error{errc::invalid_argument, "infer: params hold no header"});
  receiving next;
  next.id = head.id;
  auto header = decode_request_header(head.first, head.parameters - 1);
  if (!header)
    return answer(head.id, header.error());
  next.header = std::move(*header);
  if (auto done = apply_parameters(next.header.request, std::chrono::steady_clock::now()); !done)
    return answer(head.id, done.error());
  auto units = service_.admit(next.header.total);
  if (!units)
    return answer(head.id, units.error());
  next.units = std::move(*units);
  receiving_ = std::move(next);
}

std::byte* dispatcher::place_payload(std::uint64_t bytes) {
  if (!receiving_)
    return nullptr;
  const auto refuse = [this](error why) -> std::byte* {
    answer(receiving_->id, why);
    receiving_.reset();
    return nullptr;
  };
  auto& [id, header, units, next] = *receiving_;
  auto& input = header.request.inputs[next];
  if (bytes != header.sizes[next])
    return refuse(
        {errc::invalid_argument, fmt::format("input \"{}\" announced {} bytes, its payload has {}",
                                             input.name, header.sizes[next], bytes)});
  ++next;
  // The server has granted these bytes; the machine may still not have them.
  try {
    auto block = allocate_aligned(bytes);
    auto* place = block.get();
    input.value.data = {std::move(block), {place, static_cast<std::size_t>(bytes)}};
    return place;
  } catch (const std::bad_alloc&) {
    return refuse({errc::resource_exhausted,
                   fmt::format("no memory for {} bytes of input \"{}\"", bytes, input.name)});
  }
}

void dispatcher::finish(const frame_head& head) {
  if (receiving_) {
    auto complete = std::move(*receiving_);
    receiving_.reset();
    return call_infer(std::move(complete));
  }
  const auto method = decode_string(head.method);
  if (head.kind == frame_kind::notification) {
    if (method && *method == "cancel")
      if (const auto id = decode_cancel(head.first))
        cancel(*id);
    return;
  }
  if (!calls_.contains(head.id))
    return; // refused before
  if (!method)
    return answer(head.id, method.error());
  call_method(head.id, *method, head.first);
}

void dispatcher::break_off(const frame_scanner& scanner, bool opened, const error& failure) {
  receiving_.reset();
  if (scanner.kind() == frame_kind::request && scanner.id()) {
    const auto id = *scanner.id();
    if (opened && calls_.contains(id))
      return answer(id, failure);
    if (!opened && !calls_.contains(id))
      return send_(encode_error(id, failure));
  }
  send_(encode_notice(failure));
}

void dispatcher::call_infer(receiving complete) {
  const auto id = complete.id;
  auto& request = complete.header.request;
  if (complete.next != request.inputs.size())
    return answer(id,
                  error{errc::invalid_argument,
                        fmt::format("{} of {} inputs have no bin",
                                    request.inputs.size() - complete.next, request.inputs.size())});
  for (const auto& input : request.inputs)
    if (auto done = check_tensor(input); !done)
      return answer(id, done.error());
  auto on_any_part = [post = post_, weak = weak_from_this(), id](response_part part, bool final) {
    post([weak, id, part = std::move(part), final]() mutable {
      if (auto self = weak.lock())
        self->on_part(id, std::move(part), final);
    });
  };
  // Parts are posted, so that even one that comes at once finds the call in its place.
  calls_[id] =
      service_.infer(std::move(request), std::move(complete.units), std::move(on_any_part));
}

void dispatcher::on_part(std::uint32_t id, response_part part, bool final) {
  const auto found = calls_.find(id);
  if (found == calls_.end())
    return;
  if (!final) {
    const auto running = found->second;
    answer(id,
           error{errc::unimplemented, "the model answers in several parts, this protocol in one"});
    if (running)
      running->cancel();
    return;
  }
  if (part)
    answer(id, encode_response(id, *part));
  else
    answer(id, part.error());
}

template <class T>
service::answer<T> dispatcher::reply_to(std::uint32_t id) {
  return [post = post_, weak = weak_from_this(), id](result<T> given) {
    post([weak, id, given = std::move(given)] {
      const auto self = weak.lock();
      if (!self)
        return;
      if (!given)
        self->answer(id, given.error());
      else if constexpr (std::is_void_v<T>)
        self->answer(id, encode_nil(id));
      else
        self->answer(id, encode_response(id, *given));
    });
  };
}

void dispatcher::call_health(std::uint32_t id, model_reference about) {
  health now{.live = service_.live(),
             .ready = service_.ready(),
             .server = std::string{server_name},
             .version = std::string{server_version}};
  if (about.model.empty())
    return answer(id, encode_response(id, now));
  service_.model_ready(std::move(about.model), std::move(about.version),
                       [post = post_, weak = weak_from_this(), id, now](result<bool> ready) {
                         post([weak, id, now, ready = std::move(ready)]() mutable {
                           const auto self = weak.lock();
                           if (!self)
                             return;
                           if (!ready)
                             return self->answer(id, ready.error());
                           now.model_ready = *ready;
                           self->answer(id, encode_response(id, now));
                         });
                       });
}

void dispatcher::call_method(std::uint32_t id, const std::string& method, value_bytes params) {
  if (method == "cancel") {
    const auto target = decode_cancel(params);
    if (!target)
      return answer(id, target.error());
    return answer(id, encode_response(id, *target != id && cancel(*target)));
  }
  if (method == "models")
    return service_.index(reply_to<std::vector<model_index_entry>>(id));
  if (method == "auth")
    return answer(id, error{errc::unimplemented, "auth is not built yet"});

  const bool known = method == "health" || method == "metadata" || method == "stats"
                     || method == "load" || method == "unload";
  if (!known)
    return answer(id, error{errc::unimplemented, fmt::format("unknown method \"{}\"", method)});
  auto about = decode_model(params);
  if (!about)
    return answer(id, about.error());
  if (method == "health")
    return call_health(id, std::move(*about));
  if (method == "stats")
    return service_.statistics(std::move(about->model),
                               reply_to<std::vector<model_statistics>>(id));
  if (about->model.empty())
    return answer(
        id, error{errc::invalid_argument, fmt::format("{}: params need \"model_name\"", method)});
  if (method == "metadata")
    return service_.metadata(std::move(about->model), std::move(about->version),
                             reply_to<model_metadata>(id));
  if (refusing_)
    return answer(id, error{errc::unavailable, "the server is draining"});
  if (method == "load")
    return service_.load(std::move(about->model), reply_to<void>(id));
  service_.unload(std::move(about->model), reply_to<void>(id));
}

bool dispatcher::cancel(std::uint32_t id) noexcept {
  const auto found = calls_.find(id);
  if (found == calls_.end())
    return false;
  if (found->second)
    found->second->cancel();
  return true;
}

void dispatcher::cancel_all() noexcept {
  receiving_.reset();
  for (auto& [id, running] : calls_)
    if (running)
      running->cancel();
}

void dispatcher::answer(std::uint32_t id, outgoing_frame frame) {
  if (calls_.erase(id) > 0)
    send_(std::move(frame));
}

void dispatcher::answer(std::uint32_t id, const error& failure) {
  answer(id, encode_error(id, failure));
}

} // namespace troupe::protocol::rpc
