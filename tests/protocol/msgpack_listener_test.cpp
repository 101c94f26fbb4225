#include <boost/test/unit_test.hpp>

#include "protocol/msgpack/listener.hpp"
#include "tests/protocol/fake_service.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

#include <set>

using namespace troupe;
using namespace troupe::protocol;
using namespace troupe::protocol::rpc;
using namespace std::string_literals;
using namespace std::chrono_literals;
using test::raw_client;
using test::request_of;

namespace {

struct fixture {
  explicit fixture(limits bounds = {}, int threads = 2)
      : listener(service, {.threads = threads}, bounds), port(listener.start().value()) {}

  test::fake_service service;
  msgpack_listener listener;
  std::uint16_t port;
};

limits short_times() {
  limits bounds;
  bounds.frame_time = 50ms;
  bounds.linger_time = 50ms;
  return bounds;
}

} // namespace

BOOST_AUTO_TEST_CASE(an_inference_comes_back_with_its_tensors) {
  fixture at;
  raw_client client{at.port};
  const auto request = test::sample_request();
  client.send(encode_infer_request(42, request));
  const auto reply = client.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_REQUIRE_MESSAGE(reply->ok(), reply->failure().text);
  BOOST_TEST(reply->id == 42u);
  BOOST_REQUIRE(reply->payloads.size() == 3u);
  const auto header = decode_response_header(reply->header(), 3);
  BOOST_REQUIRE_MESSAGE(header.has_value(), header.error().text);
  BOOST_TEST(header->response.id == "label");
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(std::ranges::equal(reply->payloads[i], request.inputs[i].value.data.view));
  BOOST_TEST(at.service.admitted_bytes == 26u);
}

BOOST_AUTO_TEST_CASE(payloads_arrive_aligned_and_whole_whatever_their_size) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  for (const std::size_t elements : {1u, 1000u, 4096u, 5000u, 300'000u}) {
    const auto request = request_of(elements);
    client.send(encode_infer_request(1, request));
    auto held = at.service.take();
    const auto& got = held.request.inputs[0].value;
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(got.data.data()) % tensor_alignment == 0u);
    BOOST_TEST(test::same(got, request.inputs[0].value));
    held.echo();
    BOOST_TEST(client.receive().value().ok());
  }
}

BOOST_AUTO_TEST_CASE(a_request_that_trickles_in_is_answered) {
  fixture at;
  raw_client client{at.port};
  for (const char byte : raw_client::flat(encode_infer_request(3, test::sample_request())))
    client.send(std::string_view{&byte, 1});
  BOOST_TEST(client.receive().value().ok());
}

BOOST_AUTO_TEST_CASE(many_requests_are_in_flight_and_answered_as_they_finish) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  for (std::uint32_t id = 0; id < 100; ++id)
    client.send(encode_infer_request(id, request_of(10 + id)));
  at.service.wait_for_held(100);
  std::vector<test::fake_service::held_call> calls;
  for (int i = 0; i < 100; ++i)
    calls.push_back(at.service.take());
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    call->echo();
  for (std::uint32_t id = 100; id-- > 0;) {
    const auto reply = client.receive();
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(reply->id == id);
    BOOST_TEST(reply->payloads.at(0).size() == 4 * (10 + id));
  }
}

BOOST_AUTO_TEST_CASE(every_other_method_answers) {
  fixture at;
  raw_client client{at.port};
  client.send(encode_request(1, "health"));
  const auto health = decode_health(client.receive().value().result_value());
  BOOST_REQUIRE(health.has_value());
  BOOST_TEST(health->ready);
  client.send(encode_request(2, "health", "loading"));
  BOOST_TEST(!decode_health(client.receive().value().result_value())->model_ready.value());
  client.send(encode_request(3, "health", "missing"));
  BOOST_TEST((client.receive()->failure().code == errc::not_found));
  client.send(encode_request(4, "models"));
  BOOST_TEST(decode_index(client.receive().value().result_value())->size() == 2u);
  client.send(encode_request(5, "metadata", "echo", "3"));
  const auto metadata = decode_metadata(client.receive().value().result_value());
  BOOST_TEST(metadata->versions == std::vector{"3"s});
  BOOST_TEST(metadata->properties.at("character") == "a\nb");
  client.send(encode_request(6, "metadata"));
  BOOST_TEST((client.receive()->failure().code == errc::invalid_argument));
  client.send(encode_request(7, "stats"));
  BOOST_TEST(decode_statistics(client.receive().value().result_value())->at(0).inference_count
             == 7u);
  client.send(encode_request(8, "load", "echo"));
  BOOST_TEST(client.receive()->ok());
  client.send(encode_request(9, "load", "missing"));
  BOOST_TEST((client.receive()->failure().code == errc::not_found));
  client.send(encode_request(10, "unload", "echo"));
  BOOST_TEST(client.receive()->ok());
  client.send(encode_request(11, "auth"));
  BOOST_TEST((client.receive()->failure().code == errc::unimplemented));
  client.send(encode_request(12, "fly"));
  BOOST_TEST((client.receive()->failure().code == errc::unimplemented));
}

BOOST_AUTO_TEST_CASE(a_refused_request_is_answered_before_its_payload_and_the_connection_lives) {
  fixture at;
  raw_client client{at.port};
  at.service.refuse(error{errc::resource_exhausted, "queue is full", 250});
  const auto frame = raw_client::flat(encode_infer_request(1, request_of(100'000)));
  const std::size_t head = frame.size() - 400'000;
  client.send(std::string_view{frame}.substr(0, head));
  const auto refusal = client.receive();
  BOOST_REQUIRE(refusal.has_value());
  BOOST_TEST((refusal->failure().code == errc::resource_exhausted));
  BOOST_TEST(refusal->failure().retry_after_ms == 250u);
  at.service.refuse({});
  client.send(std::string_view{frame}.substr(head));
  client.send(frame);
  BOOST_TEST(client.receive().value().ok());
  BOOST_TEST(at.service.units_out == 0);
}

BOOST_AUTO_TEST_CASE(wrong_requests_are_answered_and_the_connection_lives) {
  fixture at;
  raw_client client{at.port};
  const std::vector<std::string> wrong{
      "\x94\x00\x01\xa5infer\x90"s,
      "\x94\x00\x01\xa5infer\x91\x05"s,
      "\x94\x00\x01\xa5infer\x93\x82\xaamodel_name\xa4"
      "echo\xa6inputs\x90\xc4\x02zz\xc4\x01z"s,
      // announces a bin and sends an integer
      "\x94\x00\x01\xa5infer\x92\x82\xaamodel_name\xa4"
      "echo\xa6inputs\x91\x84\xa4name\xa1x\xa8"
      "datatype\xa5UINT8"
      "\xa5shape\x91\x01\xa9"
      "byte_size\x01\x07"s,
      // announces one byte and sends two
      "\x94\x00\x01\xa5infer\x92\x82\xaamodel_name\xa4"
      "echo\xa6inputs\x91\x84\xa4name\xa1x\xa8"
      "datatype\xa5UINT8"
      "\xa5shape\x91\x01\xa9"
      "byte_size\x01\xc4\x02zz"s,
      // a BOOL of 2
      "\x94\x00\x01\xa5infer\x92\x82\xaamodel_name\xa4"
      "echo\xa6inputs\x91\x84\xa4name\xa1x\xa8"
      "datatype\xa4"
      "BOOL"
      "\xa5shape\x91\x01\xa9"
      "byte_size\x01\xc4\x01\x02"s,
  };
  for (const auto& frame : wrong) {
    client.send(frame);
    const auto reply = client.receive();
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(reply->id == 1u);
    BOOST_TEST((reply->failure().code == errc::invalid_argument), reply->failure().text);
  }
  auto request = request_of(4);
  request.model_name = "missing";
  client.send(encode_infer_request(2, request));
  BOOST_TEST((client.receive()->failure().code == errc::not_found));
  client.send(encode_infer_request(3, request_of(4)));
  BOOST_TEST(client.receive()->ok());
}

BOOST_AUTO_TEST_CASE(an_oversize_claim_is_answered_first_and_then_closed) {
  fixture at;
  raw_client client{at.port};
  client.send("\x94\x00\x07\xa5infer\x92\x80\xc6\xc0\x00\x00\x00"s);
  const auto reply = client.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->id == 7u);
  BOOST_TEST((reply->failure().code == errc::resource_exhausted));
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(a_malformed_frame_gets_a_notice_after_the_answers_in_flight) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  client.send(encode_infer_request(1, request_of(4)));
  auto held = at.service.take();
  client.send("GET / HTTP/1.1\r\n\r\n"s);
  const auto notice = client.receive();
  BOOST_REQUIRE(notice.has_value());
  BOOST_TEST((notice->kind == frame_kind::notification));
  BOOST_TEST((notice->failure().code == errc::invalid_argument));
  held.echo();
  BOOST_TEST(client.receive()->ok());
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(an_id_in_flight_twice_ends_the_connection_but_not_the_request) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  client.send(encode_infer_request(1, request_of(4)));
  auto held = at.service.take();
  client.send(encode_request(1, "health"));
  BOOST_TEST((client.receive()->kind == frame_kind::notification));
  held.echo();
  BOOST_TEST(client.receive()->ok());
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_cancels_its_calls) {
  fixture at;
  at.service.hold = true;
  {
    raw_client client{at.port};
    client.send(encode_infer_request(1, request_of(4)));
    client.send(encode_infer_request(2, request_of(4)));
    at.service.wait_for_held(2);
  }
  at.service.wait_for_cancellations(2);
  at.service.take().echo(); // into the void
  at.service.take().fail_with({errc::cancelled, "gone"});
}

BOOST_AUTO_TEST_CASE(cancel_reaches_the_call_and_the_call_still_answers) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  client.send(encode_infer_request(1, request_of(4)));
  auto held = at.service.take();
  client.send(encode_cancel(1));
  at.service.wait_for_cancellations(1);
  BOOST_TEST(held.cancelled->load());
  client.send("\x94\x00\x02\xa6"
              "cancel\x91\x81\xa2id\x01"s);
  BOOST_TEST(decode_bool(client.receive()->result_value()).value());
  held.fail_with({errc::cancelled, "cancelled by the client"});
  BOOST_TEST((client.receive()->failure().code == errc::cancelled));
  client.send("\x94\x00\x02\xa6"
              "cancel\x91\x81\xa2id\x01"s);
  BOOST_TEST(!decode_bool(client.receive()->result_value()).value());
}

BOOST_AUTO_TEST_CASE(reading_stops_at_the_limit_of_requests_in_flight) {
  limits bounds;
  bounds.in_flight = 4;
  fixture at{bounds};
  at.service.hold = true;
  raw_client client{at.port};
  for (std::uint32_t id = 0; id < 6; ++id)
    client.send(encode_infer_request(id, request_of(4)));
  at.service.wait_for_held(4);
  BOOST_TEST(at.service.held() == 4u);
  for (int i = 0; i < 6; ++i) {
    at.service.take().echo();
    BOOST_TEST(client.receive()->ok());
  }
}

BOOST_AUTO_TEST_CASE(reading_stops_while_too_much_waits_to_be_sent) {
  limits bounds;
  bounds.output_bytes = 1 << 20;
  fixture at{bounds};
  at.service.hold = true;
  raw_client client{at.port};
  client.socket().set_option(boost::asio::socket_base::receive_buffer_size(1 << 16));
  constexpr std::size_t elements = 4'000'000; // 16 MB: more than socket buffers hold
  client.send(encode_infer_request(1, request_of(elements)));
  auto first = at.service.take();
  first.echo();
  // Whether the reply is queued already is not ours to see; a request behind it is answered in the
  // end.
  client.send(encode_infer_request(2, request_of(4)));
  const auto reply = client.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->payloads.at(0).size() == 4 * elements);
  at.service.take().echo();
  BOOST_TEST(client.receive()->id == 2u);
}

BOOST_AUTO_TEST_CASE(a_frame_that_does_not_end_in_time_is_answered_and_closed) {
  fixture at{short_times()};
  raw_client client{at.port};
  client.send("\x94\x00\x09\xa5inf"s);
  const auto reply = client.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->id == 9u);
  BOOST_TEST((reply->failure().code == errc::deadline_exceeded));
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(a_payload_that_is_only_announced_buys_no_time) {
  auto bounds = short_times();
  bounds.frame_time_per_mib = 10min;
  fixture at{bounds};
  raw_client client{at.port};
  const auto whole = raw_client::flat(encode_infer_request(9, request_of(1 << 20)));
  client.send(std::string_view{whole}.substr(0, 200));
  const auto reply = client.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST((reply->failure().code == errc::deadline_exceeded));
  BOOST_TEST(at.service.units_out == 0);
}

BOOST_AUTO_TEST_CASE(what_came_of_a_payload_buys_time_for_the_rest) {
  auto bounds = short_times();
  bounds.frame_time_per_mib = 10min;
  fixture at{bounds};
  raw_client slow{at.port};
  const std::string whole = raw_client::flat(encode_infer_request(9, request_of(1 << 20)));
  slow.send(std::string_view{whole}.substr(0, 1 << 20));
  // Another one is cut for being late in the meantime.
  raw_client late{at.port};
  late.send("\x94\x00\x09\xa5inf"s);
  BOOST_TEST((late.receive().value().failure().code == errc::deadline_exceeded));
  slow.send(std::string_view{whole}.substr(1 << 20));
  BOOST_TEST(slow.receive().value().ok());
}

BOOST_AUTO_TEST_CASE(a_connection_without_requests_is_told_so_and_closed) {
  auto bounds = short_times();
  bounds.idle_time = 50ms;
  fixture at{bounds};
  raw_client silent{at.port};
  raw_client served{at.port};
  served.send(encode_request(1, "health"));
  BOOST_TEST(served.receive().value().ok());
  for (auto* client : {&silent, &served}) {
    const auto notice = client->receive();
    BOOST_REQUIRE(notice.has_value());
    BOOST_TEST((notice->kind == frame_kind::notification));
    BOOST_TEST((notice->failure().code == errc::unavailable));
    BOOST_TEST(!client->receive().has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_connection_whose_request_runs_is_not_idle) {
  auto bounds = short_times();
  bounds.idle_time = 20ms;
  fixture at{bounds};
  at.service.hold = true;
  raw_client busy{at.port};
  busy.send(encode_infer_request(7, request_of(4)));
  auto held = at.service.take();
  raw_client idle{at.port}; // once this one was sent away, the other would have been too
  BOOST_TEST((idle.receive().value().failure().code == errc::unavailable));
  held.echo();
  const auto reply = busy.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->ok());
  BOOST_TEST(reply->id == 7u);
}

BOOST_AUTO_TEST_CASE(draining_loses_no_reply_and_refuses_new_requests) {
  fixture at;
  at.service.hold = true;
  raw_client busy{at.port};
  raw_client idle{at.port};
  idle.send(encode_request(1, "health"));
  BOOST_TEST(idle.receive()->ok());
  for (std::uint32_t id = 0; id < 3; ++id)
    busy.send(encode_infer_request(id, request_of(1000)));
  std::vector<test::fake_service::held_call> calls;
  for (int i = 0; i < 3; ++i)
    calls.push_back(at.service.take());

  at.service.hold = false;
  bool in_time = false;
  std::thread drainer{[&] { in_time = at.listener.drain(10s); }};
  BOOST_TEST(!idle.receive().has_value()); // an idle client is let go
  idle.close();
  // Each connection learns of it by itself: until then the request is served.
  std::optional<test::received_frame> reply;
  do {
    busy.send(encode_infer_request(7, request_of(4)));
    reply = busy.receive();
  } while (reply && reply->ok());
  BOOST_TEST((reply && reply->failure().code == errc::unavailable));
  std::set<std::uint32_t> answered;
  for (auto& call : calls)
    call.echo();
  for (int i = 0; i < 3; ++i) {
    reply = busy.receive();
    BOOST_TEST((reply && reply->ok()));
    answered.insert(reply ? reply->id : 100);
  }
  BOOST_TEST(answered.size() == 3u);
  BOOST_TEST(!busy.receive().has_value());
  busy.close();
  drainer.join();
  BOOST_TEST(in_time);
  BOOST_CHECK_THROW(raw_client{at.port}, boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(a_drain_that_runs_out_of_time_cuts_and_cancels) {
  fixture at;
  at.service.hold = true;
  raw_client client{at.port};
  client.send(encode_infer_request(1, request_of(4)));
  auto held = at.service.take();
  BOOST_TEST(!at.listener.drain(1ms));
  at.service.wait_for_cancellations(1);
  BOOST_TEST(!client.receive().has_value());
  held.echo(); // the listener's threads are still there, the connection is not
}

BOOST_AUTO_TEST_CASE(an_answer_after_the_listener_is_gone_harms_nobody) {
  test::fake_service service;
  service.hold = true;
  std::optional<msgpack_listener> listener{std::in_place, service, listener_options{}};
  raw_client client{listener->start().value()};
  client.send(encode_infer_request(1, request_of(4)));
  auto held = service.take();
  listener.reset();
  BOOST_TEST(held.cancelled->load());
  held.echo();
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(a_hundred_idle_connections_stand_beside_a_busy_one) {
  fixture at;
  std::vector<std::unique_ptr<raw_client>> idle;
  for (int i = 0; i < 100; ++i)
    idle.push_back(std::make_unique<raw_client>(at.port));
  raw_client busy{at.port};
  for (std::uint32_t id = 0; id < 50; ++id) {
    busy.send(encode_infer_request(id, request_of(64)));
    BOOST_TEST(busy.receive()->ok());
  }
  for (auto& client : idle) {
    client->send(encode_request(1, "health"));
    BOOST_TEST(client->receive()->ok());
  }
}

BOOST_AUTO_TEST_CASE(a_connection_too_many_is_closed_and_makes_room_when_one_leaves) {
  test::fake_service service;
  msgpack_listener listener{service, {.max_connections = 1}};
  const auto port = listener.start().value();
  std::optional<raw_client> first{port};
  first->send(encode_request(1, "health"));
  BOOST_TEST(first->receive()->ok());
  raw_client second{port};
  BOOST_TEST(!second.receive().has_value());
  first.reset();
  // The server learns of it in its own time.
  bool served = false;
  while (!served) {
    raw_client third{port};
    boost::system::error_code ec;
    const auto frame = raw_client::flat(encode_request(1, "health"));
    boost::asio::write(third.socket(), boost::asio::buffer(frame), ec);
    served = !ec && third.receive().has_value();
  }
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_an_error) {
  fixture at;
  test::fake_service service;
  msgpack_listener second{service, {.port = at.port}};
  const auto started = second.start();
  BOOST_REQUIRE(!started.has_value());
  BOOST_TEST((started.error().code == errc::unavailable));
}
