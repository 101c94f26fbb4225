#include "clients/cpp/session.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>

namespace troupe::client {

namespace asio = boost::asio;
namespace rpc = protocol::rpc;
using boost::system::error_code;

namespace {

rpc::limits limits_of(const options& with) {
  rpc::limits bounds;
  bounds.payload_bytes = with.max_response_bytes;
  // Answers that list every model of a large repository.
  bounds.head_bytes = std::size_t{64} << 20;
  bounds.values = 4'000'000;
  bounds.tensors = 65'536;
  return bounds;
}

time_point now() noexcept {
  return std::chrono::steady_clock::now();
}

} // namespace

session::session(asio::ip::tcp::socket socket, std::string peer, const options& with)
    : socket_(std::move(socket)), peer_(std::move(peer)), options_(with),
      reader_(
          limits_of(with), [] {}, [](std::uint64_t) {}),
      writer_(
          socket_, [] {},
          [this](const error_code& ec) {
            if (ec)
              close({errc::unavailable,
                     fmt::format("connection to {} was lost: {}", peer_, ec.message())});
          }),
      timer_(socket_.get_executor()) {}

void session::start() {
  asio::co_spawn(socket_.get_executor(), run(shared_from_this()), [](std::exception_ptr) {});
}

asio::awaitable<void> session::run(std::shared_ptr<session> self) {
  error why{errc::unavailable, fmt::format("connection to {} was closed by the server", peer_)};
  // The connection's edge.
  try {
    auto end = rpc::frame_reader::end::complete;
    while (end == rpc::frame_reader::end::complete && !self->closed_)
      end = co_await self->reader_.read(self->socket_, *self);
    if (end == rpc::frame_reader::end::broken)
      why = {errc::invalid_argument,
             fmt::format("answer of {} cannot be read: {}", peer_, self->reader_.failure().text)};
  } catch (const std::exception& e) {
    why = {errc::internal, e.what()};
  }
  if (notice_)
    why = *notice_;
  self->close(why);
}

std::optional<std::uint32_t> session::enlist(waiting one) {
  if (closed_) {
    reject(one, *closed_);
    return std::nullopt;
  }
  if (waiting_.size() >= options_.max_in_flight) {
    reject(one,
           {errc::resource_exhausted,
            fmt::format("{} requests are in flight, the client allows no more", waiting_.size())});
    return std::nullopt;
  }
  while (waiting_.contains(next_id_))
    ++next_id_;
  const auto id = next_id_++;
  waiting_.emplace(id, std::move(one));
  if (options_.timeout > duration::zero()) {
    deadlines_.emplace_back(now() + options_.timeout, id);
    on_timer();
  }
  return id;
}

void session::infer(inference_request request, client::done_fn done) {
  for (const auto& input : request.inputs)
    if (input.value.data.size() > rpc::max_bin_bytes)
      return done(fail(errc::invalid_argument,
                       "input \"{}\" has {} bytes, more than the protocol carries", input.name,
                       input.value.data.size()));
  if (const auto id = enlist({std::move(done), {}}))
    writer_.send(rpc::encode_infer_request(*id, request), shared_from_this());
}

void session::call(const std::function<rpc::outgoing_frame(std::uint32_t)>& make, raw_fn done) {
  if (const auto id = enlist({{}, std::move(done)}))
    writer_.send(make(*id), shared_from_this());
}

result<void> session::open(const rpc::frame_head& head) {
  receiving_.reset();
  if (head.kind == rpc::frame_kind::notification) {
    const auto method = rpc::decode_string(head.method);
    if (method && *method == "error")
      if (auto said = rpc::decode_error(head.first))
        notice_ = std::move(*said);
    return {};
  }
  if (head.kind != rpc::frame_kind::response)
    return fail(errc::invalid_argument, "a server sends no requests");
  const auto found = waiting_.find(head.id);
  if (found == waiting_.end())
    return {}; // it came too late
  receiving next;
  if (!rpc::is_nil(head.error)) {
    auto said = rpc::decode_error(head.error);
    next.failed = said ? std::move(*said) : std::move(said).error();
  } else if (found->second.inferred) {
    auto header = rpc::decode_response_header(head.first, std::max(head.parameters, 1u) - 1);
    if (header)
      next.header = std::move(*header);
    else
      next.failed = std::move(header).error();
  }
  receiving_ = std::move(next);
  return {};
}

std::byte* session::place_payload(std::uint64_t bytes) {
  if (!receiving_ || receiving_->failed || receiving_->next >= receiving_->header.sizes.size())
    return nullptr;
  auto& [failed, header, next] = *receiving_;
  if (bytes != header.sizes[next]) {
    failed = error{errc::invalid_argument, "an output's payload is not as long as announced"};
    return nullptr;
  }
  auto block = allocate_aligned(bytes);
  auto* place = block.get();
  header.response.outputs[next++].value.data = {std::move(block),
                                                {place, static_cast<std::size_t>(bytes)}};
  return place;
}

void session::finish(const rpc::frame_head& head) {
  if (!receiving_)
    return;
  auto received = std::move(*receiving_);
  receiving_.reset();
  const auto found = waiting_.find(head.id);
  if (found == waiting_.end())
    return; // timed out meanwhile
  const auto one = std::move(found->second);
  waiting_.erase(found);
  if (!received.failed && one.inferred && received.next != received.header.sizes.size())
    received.failed = error{errc::invalid_argument, "an output's payload is missing"};
  if (received.failed)
    return reject(one, *received.failed);
  if (one.inferred)
    one.inferred(std::move(received.header.response));
  else
    one.called(raw_result{head.result.begin(), head.result.end()});
}

void session::on_timer() {
  if (timing_ || closed_)
    return;
  while (!deadlines_.empty()) {
    const auto [when, id] = deadlines_.front();
    const auto found = waiting_.find(id);
    if (found != waiting_.end() && when > now())
      break;
    deadlines_.pop_front();
    if (found == waiting_.end())
      continue;
    const auto one = std::move(found->second);
    waiting_.erase(found);
    writer_.send(rpc::encode_cancel(id), shared_from_this());
    reject(one,
           {errc::deadline_exceeded,
            fmt::format(
                "no answer of {} within {} ms", peer_,
                std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout).count())});
  }
  if (deadlines_.empty())
    return;
  timing_ = true;
  timer_.expires_at(deadlines_.front().first);
  timer_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!self || cancelled)
      return;
    self->timing_ = false;
    self->on_timer();
  });
}

void session::close(const error& why) {
  if (closed_)
    return;
  closed_ = why;
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  for (const auto& [id, one] : std::exchange(waiting_, {}))
    reject(one, why);
}

void session::reject(const waiting& one, const error& why) {
  if (one.inferred)
    one.inferred(tl::unexpected<error>{why});
  else
    one.called(tl::unexpected<error>{why});
}

} // namespace troupe::client
