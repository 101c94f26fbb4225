#include <boost/test/unit_test.hpp>

#include "protocol/rest/listener.hpp"
#include "tests/protocol/fake_service.hpp"
#include "tests/protocol/http_client.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;
using namespace troupe::protocol;
using namespace std::chrono_literals;
using namespace std::string_literals;
using nlohmann::json;
using test::http_client;

namespace {

struct fixture {
  explicit fixture(rest::limits bounds = {})
      : listener(service, {.threads = 2}, {.limits = bounds}), port(listener.start().value()) {}

  test::fake_service service;
  rest_listener listener;
  std::uint16_t port;
};

const std::string infer = "/v2/models/echo/infer";
const std::string body =
    R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1.5,2]}]})";

} // namespace

BOOST_AUTO_TEST_CASE(every_endpoint_answers_on_one_connection) {
  fixture at;
  http_client client{at.port};
  BOOST_TEST(client.get("/v2/health/live").body == R"({"live":true})");
  BOOST_TEST(client.get("/v2/health/ready").status == 200);
  at.service.is_ready = false;
  BOOST_TEST(client.get("/v2/health/ready").status == 503);
  BOOST_TEST(json::parse(client.get("/v2").body)["name"] == "troupe");
  const auto meta = json::parse(client.get("/v2/models/echo/versions/3").body);
  BOOST_TEST(meta["versions"][0] == "3");
  BOOST_TEST(meta["inputs"][0]["shape"][0] == -1);
  BOOST_TEST(meta["properties"]["character"] == "a\nb");
  BOOST_TEST(client.get("/v2/models/missing").status == 404);
  BOOST_TEST(client.get("/v2/models/echo/ready").status == 200);
  BOOST_TEST(client.get("/v2/models/loading/ready").status == 503);
  const auto stats = json::parse(client.get("/v2/models/stats").body);
  BOOST_TEST(stats["model_stats"][0]["inference_stats"]["queue"]["ns"] == 70);
  BOOST_TEST(json::parse(client.get("/v2/models/m/stats").body)["model_stats"][0]["name"] == "m");
  BOOST_TEST(json::parse(client.post("/v2/repository/index", "").body).size() == 2u);
  BOOST_TEST(json::parse(client.post("/v2/repository/index", R"({"ready":true})").body).size()
             == 1u);
  BOOST_TEST(client.post("/v2/repository/models/echo/load", "").status == 200);
  BOOST_TEST(client.post("/v2/repository/models/missing/load", "{}").status == 404);
  BOOST_TEST(client
                 .post("/v2/repository/models/echo/unload",
                       R"({"parameters":{"unload_dependents":false}})")
                 .status
             == 200);
  BOOST_TEST(
      client.post("/v2/repository/models/echo/load", R"({"parameters":{"config":"{}"}})").status
      == 501);
}

BOOST_AUTO_TEST_CASE(an_inference_in_json_comes_back) {
  fixture at;
  http_client client{at.port};
  const auto answer = client.post(infer, body, "Content-Type: application/json; charset=utf-8\r\n");
  BOOST_TEST(answer.status == 200);
  BOOST_TEST(
      answer.body
      == R"({"model_name":"echo","model_version":"1","outputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1.5,2]}]})");
  BOOST_TEST(
      client.post("/v2/models/echo/versions/7/infer", body).body.find(R"("model_version":"7")")
      != std::string::npos);
  BOOST_TEST(client.post("/v2/models/missing/infer", body).status == 404);
}

BOOST_AUTO_TEST_CASE(binary_tensors_go_in_and_out_aligned_and_without_change) {
  fixture at;
  at.service.hold = true;
  http_client client{at.port};
  const std::string head =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"a","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}},)"
      R"({"name":"image","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":100004}}]})";
  std::string image = "\xa0\x86\x01\x00"s;
  for (int i = 0; i < 100'000; ++i)
    image += static_cast<char>(i * 7);
  client.send(http_client::post_text(
      infer, head + "\x01\x02\x03" + image,
      fmt::format(
          "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: {}\r\n",
          head.size())));
  auto held = at.service.take();
  for (const auto& input : held.request.inputs)
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(input.value.data.data()) % tensor_alignment == 0u);
  held.echo();
  const auto answer = client.receive();
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->status == 200);
  const auto at_length = answer->head.find("Inference-Header-Content-Length: ");
  BOOST_REQUIRE(at_length != std::string::npos);
  const auto json_length = std::stoul(answer->head.substr(at_length + 33));
  const auto outputs = json::parse(answer->body.substr(0, json_length))["outputs"];
  BOOST_TEST(outputs[1]["parameters"]["binary_data_size"] == 100'004);
  BOOST_TEST((answer->body.substr(json_length) == "\x01\x02\x03" + image));
}

// The socket may seem readable once more after a body has been read to its end.
BOOST_AUTO_TEST_CASE(a_peer_is_watched_without_holding_up_the_listener) {
  fixture at;
  at.service.hold = true;
  http_client client{at.port};
  const std::string head =
      R"({"inputs":[{"name":"image","datatype":"UINT8","shape":[100000],"parameters":{"binary_data_size":100000}}]})";
  const auto text =
      http_client::post_text(infer, head + std::string(100'000, 'x'),
                             fmt::format("Inference-Header-Content-Length: {}\r\n", head.size()));
  for (int i = 0; i < 300; ++i) {
    client.send(text);
    at.service.take().echo();
    const auto answer = client.receive();
    BOOST_REQUIRE(answer.has_value());
    BOOST_REQUIRE(answer->status == 200);
  }
}

BOOST_AUTO_TEST_CASE(every_kind_of_wrong_request_has_its_status_and_leaves_the_connection) {
  fixture at;
  http_client client{at.port};
  BOOST_TEST(client.get("/v3").status == 404);
  BOOST_TEST(client.get(infer).status == 405);
  BOOST_TEST(client.get(infer).says("Allow: POST\r\n"));
  BOOST_TEST(client.post("/v2/health/live", "{}").status == 405);
  BOOST_TEST(client.post(infer, "{").status == 400);
  BOOST_TEST(client.post(infer, "").status == 400);
  BOOST_TEST(client.post("/v2/models/echo/versions/x/infer", body).status == 400);
  BOOST_TEST(client.post(infer, body, "Content-Type: text/html\r\n").status == 415);
  BOOST_TEST(client.post(infer, body, "Content-Encoding: gzip\r\n").status == 415);
  BOOST_TEST(client.post(infer, body, "Inference-Header-Content-Length: 9999\r\n").status == 400);
  BOOST_TEST(client.post(infer, body, "Inference-Header-Content-Length: -1\r\n").status == 400);
  BOOST_TEST(client.post(infer, body, "Inference-Header-Content-Length: 0\r\n").status == 501);
  BOOST_TEST(client
                 .post(infer, body + "tail",
                       fmt::format("Inference-Header-Content-Length: {}\r\n", body.size()))
                 .status
             == 400);
  const auto answer =
      client.post(infer, R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[300]}]})");
  BOOST_TEST(answer.status == 400);
  BOOST_TEST(json::parse(answer.body)["error"].get<std::string>().find("300") != std::string::npos);
  BOOST_TEST(client.post(infer, body).status == 200);
  BOOST_TEST(at.service.units_out == 0);
}

BOOST_AUTO_TEST_CASE(bodies_beyond_the_limits_are_refused_unread) {
  rest::limits bounds;
  bounds.body_bytes = 1000;
  bounds.json_bytes = 200;
  fixture at{bounds};
  http_client client{at.port};
  client.send("POST " + infer + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000000\r\n\r\n");
  const auto answer = client.receive();
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->status == 413);
  BOOST_TEST(answer->says("Connection: close"));
  BOOST_TEST(!client.receive().has_value());
  http_client other{at.port};
  BOOST_TEST(other.post(infer, std::string(300, ' ')).status == 413);
  BOOST_TEST(other.post(infer, body).status == 200);
  http_client chunked{at.port};
  chunked.send("POST " + infer + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  BOOST_TEST(chunked.receive()->status == 411);
  BOOST_TEST(!chunked.receive().has_value());
  http_client wide{at.port};
  wide.send("GET /v2 HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  BOOST_TEST(wide.receive()->status == 431);
  http_client noise{at.port};
  noise.send("\x94\x00\x07\xa5infer\r\n\r\n"s);
  BOOST_TEST(noise.receive()->status == 400);
}

BOOST_AUTO_TEST_CASE(a_full_server_says_when_to_come_back) {
  fixture at;
  at.service.refuse(error{errc::resource_exhausted, "queue is full", 1500});
  http_client client{at.port};
  const auto answer = client.post(infer, body);
  BOOST_TEST(answer.status == 429);
  BOOST_TEST(answer.says("Retry-After: 2\r\n"));
  at.service.refuse({});
  BOOST_TEST(client.post(infer, body).status == 200);

  rest_listener as_triton{at.service, {}, {.limits = {}, .triton_error_codes = true}};
  http_client other{as_triton.start().value()};
  at.service.refuse(error{errc::resource_exhausted, "queue is full", 0});
  BOOST_TEST(other.post(infer, body).status == 503);
}

BOOST_AUTO_TEST_CASE(a_client_that_asks_first_is_told_to_go_on_or_not) {
  fixture at;
  http_client client{at.port};
  const std::string ask = "POST " + infer
                          + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
                          + std::to_string(body.size()) + "\r\n\r\n";
  client.send(ask);
  BOOST_TEST(client.receive()->status == 100);
  client.send(body);
  BOOST_TEST(client.receive()->status == 200);
  at.service.refuse(error{errc::resource_exhausted, "queue is full", 0});
  client.send(ask);
  BOOST_TEST(client.receive()->status == 429);
  BOOST_TEST(!client.receive().has_value());
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_order) {
  fixture at;
  http_client client{at.port};
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += http_client::post_text(infer, fmt::format(R"({{"id":"{}",{})", i, body.substr(1)));
  client.send(all);
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(json::parse(client.receive().value().body)["id"] == std::to_string(i));
}

BOOST_AUTO_TEST_CASE(a_request_that_trickles_in_byte_by_byte_is_answered) {
  fixture at;
  http_client client{at.port};
  for (const char byte : http_client::post_text(infer, body))
    client.send(std::string_view{&byte, 1});
  BOOST_TEST(client.receive()->status == 200);
}

BOOST_AUTO_TEST_CASE(a_request_that_takes_too_long_is_answered_and_closed) {
  rest::limits bounds;
  bounds.request_time = 50ms;
  bounds.linger_time = 50ms;
  fixture at{bounds};
  for (const auto& start :
       {"POST "s, "POST " + infer + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"}) {
    http_client client{at.port};
    client.send(start);
    const auto answer = client.receive();
    BOOST_REQUIRE(answer.has_value());
    BOOST_TEST((answer->status == 408 || answer->status == 504));
    BOOST_TEST(!client.receive().has_value());
  }
}

BOOST_AUTO_TEST_CASE(what_came_of_a_body_buys_time_and_what_is_announced_does_not) {
  rest::limits bounds;
  bounds.request_time = 50ms;
  bounds.request_time_per_mib = 10min;
  bounds.linger_time = 50ms;
  fixture at{bounds};
  const auto whole =
      http_client::post_text(infer, std::string(1 << 20, ' ') + body + std::string(1 << 20, ' '));
  http_client slow{at.port};
  slow.send(std::string_view{whole}.substr(0, 1 << 20));
  http_client late{at.port};
  late.send(std::string_view{whole}.substr(0, 200));
  BOOST_TEST(late.receive().value().status == 504);
  slow.send(std::string_view{whole}.substr(1 << 20));
  BOOST_TEST(slow.receive().value().status == 200);
}

BOOST_AUTO_TEST_CASE(an_http_client_that_leaves_cancels_its_call) {
  fixture at;
  at.service.hold = true;
  {
    http_client client{at.port};
    client.send(http_client::post_text(infer, body));
    at.service.wait_for_held(1);
  }
  at.service.wait_for_cancellations(1);
  at.service.take().echo();
}

BOOST_AUTO_TEST_CASE(an_http_client_may_close_and_ask_for_closing) {
  fixture at;
  http_client client{at.port};
  client.send("GET /v2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  BOOST_TEST(client.receive()->says("Connection: close"));
  BOOST_TEST(!client.receive().has_value());
  http_client old{at.port};
  old.send("GET /v2 HTTP/1.0\r\n\r\n");
  BOOST_TEST(old.receive()->status == 200);
  BOOST_TEST(!old.receive().has_value());
}

BOOST_AUTO_TEST_CASE(draining_http_answers_what_runs_and_lets_idle_clients_go) {
  fixture at;
  at.service.hold = true;
  http_client idle{at.port};
  BOOST_TEST(idle.get("/v2").says("Connection: keep-alive"));
  http_client busy{at.port};
  busy.send(http_client::post_text(infer, body));
  auto held = at.service.take();
  at.listener.stop_accepting();
  BOOST_TEST(idle.get("/v2").says("Connection: close"));
  idle.close();
  bool in_time = false;
  std::thread drainer{[&] { in_time = at.listener.drain(10s); }};
  held.echo();
  const auto answer = busy.receive();
  BOOST_TEST((answer && answer->status == 200));
  BOOST_TEST((answer && answer->says("Connection: close")));
  BOOST_TEST(!busy.receive().has_value());
  busy.close();
  drainer.join();
  BOOST_TEST(in_time);
}

BOOST_AUTO_TEST_CASE(an_http_drain_that_runs_out_of_time_cuts_and_cancels) {
  fixture at;
  at.service.hold = true;
  http_client client{at.port};
  client.send(http_client::post_text(infer, body));
  auto held = at.service.take();
  BOOST_TEST(!at.listener.drain(1ms));
  at.service.wait_for_cancellations(1);
  BOOST_TEST(!client.receive().has_value());
  held.echo();
}

BOOST_AUTO_TEST_CASE(a_hundred_idle_http_connections_stand_beside_a_busy_one) {
  fixture at;
  std::vector<std::unique_ptr<http_client>> idle;
  for (int i = 0; i < 100; ++i)
    idle.push_back(std::make_unique<http_client>(at.port));
  http_client busy{at.port};
  for (int i = 0; i < 50; ++i)
    BOOST_TEST(busy.post(infer, body).status == 200);
  for (auto& client : idle)
    BOOST_TEST(client->get("/v2/health/live").status == 200);
}
