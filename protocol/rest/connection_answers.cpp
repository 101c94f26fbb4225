// What a connection answers: the endpoints, as opposed to how bytes come and go.

#include "protocol/rest/connection.hpp"

#include "protocol/rest/answers.hpp"
#include "protocol/tensor_check.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::protocol::rest {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// The body of a request that is not for inference.
constexpr std::uint64_t small_body_bytes = 65'536;

} // namespace

template <class T>
std::function<void(result<T>)> connection::fill(const std::shared_ptr<slot<T>>& to) {
  return [gate = gate_, weak = weak_from_this(), to](result<T> given) {
    gate->enter([&] {
      auto self = weak.lock();
      if (!self)
        return;
      const auto strand = self->socket_.get_executor();
      asio::post(strand, [self = std::move(self), to, given = std::move(given)]() mutable {
        if (!to->value)
          to->value = std::move(given);
        self->event_.cancel();
      });
    });
  };
}

template <class T>
asio::awaitable<result<T>> connection::wait(std::shared_ptr<slot<T>> for_answer) {
  reading_ = false;
  deadline_ = time_point::max();
  while (!for_answer->value && !peer_left_ && socket_.is_open()) {
    error_code cancelled;
    event_.expires_at(time_point::max());
    co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  if (!for_answer->value)
    co_return fail(errc::cancelled, "the client left");
  co_return std::move(*for_answer->value);
}

std::optional<response> connection::refuse(const request_head& head, const route& to) const {
  const auto& bounds = settings_.limits;
  if (head.method != method_of(to.what)) {
    auto answer = error_response(405, "Method Not Allowed");
    answer.allow = method_of(to.what);
    return answer;
  }
  if (head.chunked)
    return error_response(411, "a request's body needs a Content-Length, chunks are not taken");
  const bool infers = to.what == endpoint::infer;
  if (head.content_length > (infers ? bounds.body_bytes : small_body_bytes))
    return error_response(413,
                          fmt::format("a body of {} bytes is more than {}", head.content_length,
                                      infers ? bounds.body_bytes : small_body_bytes));
  if (head.content_length > 0 && !head.encoding.empty() && head.encoding != "identity")
    return error_response(415,
                          fmt::format("Content-Encoding \"{}\" is not understood", head.encoding));
  // The last one is what curl says of any body if not told otherwise.
  constexpr std::string_view known[] = {"", "application/json", "application/octet-stream",
                                        "application/x-www-form-urlencoded"};
  if (head.content_length > 0 && std::ranges::find(known, head.media_type) == std::end(known))
    return error_response(
        415, fmt::format("Content-Type \"{}\" is not application/json", head.media_type));
  return std::nullopt;
}

asio::awaitable<response> connection::answer(const request_head& head, const route& to) {
  switch (to.what) {
    case endpoint::infer: co_return co_await answer_infer(head, to);
    case endpoint::index:
    case endpoint::load:
    case endpoint::unload: co_return co_await answer_repository(head, to);
    case endpoint::live: co_return live_answer(service_.live());
    case endpoint::ready: co_return ready_answer(service_.ready());
    case endpoint::server_metadata: co_return server_answer();
    case endpoint::model_metadata: {
      auto place = std::make_shared<slot<model_metadata>>();
      service_.metadata(to.model, to.version, fill(place));
      const auto found = co_await wait(place);
      co_return found ? metadata_answer(*found) : failed(found.error());
    }
    case endpoint::model_ready: {
      auto place = std::make_shared<slot<bool>>();
      service_.model_ready(to.model, to.version, fill(place));
      const auto found = co_await wait(place);
      co_return found ? model_ready_answer(to.model, *found) : failed(found.error());
    }
    case endpoint::statistics: {
      auto place = std::make_shared<slot<std::vector<model_statistics>>>();
      service_.statistics(to.model, fill(place));
      const auto found = co_await wait(place);
      co_return found ? statistics_answer(*found) : failed(found.error());
    }
  }
  co_return error_response(404, "Not Found");
}

asio::awaitable<response> connection::answer_repository(const request_head& head, const route& to) {
  const bool may_go_on = co_await send_continue(head);
  if (!may_go_on)
    co_return error_response(400, "the client left");
  const auto text = co_await read_text(head.content_length);
  if (!text)
    co_return failed(text.error());
  const auto asked = decode_repository(std::string_view{*text}.substr(0, head.content_length));
  if (!asked)
    co_return failed(asked.error());
  if (to.what == endpoint::index) {
    auto place = std::make_shared<slot<std::vector<model_index_entry>>>();
    service_.index(fill(place));
    const auto found = co_await wait(place);
    co_return found ? index_answer(*found, asked->ready_only) : failed(found.error());
  }
  auto place = std::make_shared<slot<void>>();
  if (to.what == endpoint::load)
    service_.load(to.model, fill(place));
  else
    service_.unload(to.model, fill(place));
  const auto done = co_await wait(place);
  co_return done ? response{} : failed(done.error());
}

asio::awaitable<response> connection::answer_infer(const request_head& head, const route& to) {
  const auto& bounds = settings_.limits;
  std::uint64_t json_length = head.content_length;
  if (head.json_length) {
    const auto& text = *head.json_length;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), json_length);
    if (ec != std::errc{} || end != text.data() + text.size() || json_length > head.content_length)
      co_return error_response(
          400, fmt::format("Inference-Header-Content-Length \"{}\" is no number up to {}", text,
                           head.content_length));
    if (json_length == 0)
      co_return error_response(501, "requests without a JSON part are not built yet");
  }
  if (json_length > bounds.json_bytes)
    co_return error_response(
        413, fmt::format("JSON of {} bytes is more than {}; send tensors as binary data",
                         json_length, bounds.json_bytes));
  if (draining_)
    co_return failed({errc::unavailable, "the server is draining"});
  auto units = service_.admit(head.content_length);
  if (!units)
    co_return failed(units.error());
  const bool may_go_on = co_await send_continue(head);
  if (!may_go_on)
    co_return error_response(400, "the client left");

  expect_within(settings_.limits.request_time);
  auto text = co_await read_text(json_length);
  if (!text)
    co_return failed(text.error());
  auto read = decode_infer(std::string_view{*text}.substr(0, json_length), bounds);
  if (!read)
    co_return failed(read.error());
  text->clear();
  text->shrink_to_fit();
  if (read->binary_total != body_left_)
    co_return failed({errc::invalid_argument,
                      fmt::format("the inputs announce {} bytes of binary data, the body holds {}",
                                  read->binary_total, body_left_)});
  auto& request = read->request;
  for (const auto& [index, bytes] : read->binary) {
    auto block = allocate_aligned(bytes);
    std::byte* const place = block.get();
    request.inputs[index].value.data = {std::move(block), {place, static_cast<std::size_t>(bytes)}};
    const bool received = co_await receive(place, bytes);
    if (!received)
      co_return error_response(408, "the request's body took too long to arrive");
  }
  for (const auto& input : request.inputs)
    if (auto done = check_tensor(input); !done)
      co_return failed(done.error());
  request.model_name = to.model;
  request.model_version = to.version;
  if (auto done = apply_parameters(request, std::chrono::steady_clock::now()); !done)
    co_return failed(done.error());

  auto place = std::make_shared<slot<inference_response>>();
  auto filled = fill(place);
  reading_ = false;
  deadline_ = time_point::max();
  running_ =
      service_.infer(std::move(request), std::move(*units),
                     [filled = std::move(filled)](response_part part, bool final) {
                       if (final)
                         filled(std::move(part));
                       else
                         filled(fail(errc::unimplemented,
                                     "the model answers in several parts, this endpoint in one"));
                     });
  watch_peer();
  const auto answered = co_await wait(place);
  if (running_ && (peer_left_ || !socket_.is_open()))
    running_->cancel();
  running_.reset();
  if (!answered)
    co_return failed(answered.error());
  auto encoded = encode_infer(*answered, read->form);
  co_return encoded ? std::move(*encoded) : failed(encoded.error());
}

response connection::failed(const error& why) const {
  return error_response(why, settings_.triton_error_codes);
}

} // namespace troupe::protocol::rest
