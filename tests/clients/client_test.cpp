#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "clients/cpp/client.hpp"
#include "protocol/msgpack/listener.hpp"
#include "protocol/rest/listener.hpp"
#include "tests/protocol/fake_service.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

#include <boost/asio/ip/tcp.hpp>

using namespace troupe;
using namespace std::chrono_literals;
using client::connect;
namespace data = boost::unit_test::data;

namespace {

const auto protocols = data::make({"tcp", "http"});

struct fixture {
  explicit fixture(const std::string& protocol) {
    if (protocol == "tcp")
      listener =
          std::make_unique<protocol::msgpack_listener>(service, protocol::listener_options{});
    else
      listener = std::make_unique<protocol::rest_listener>(service, protocol::listener_options{});
    url = fmt::format("{}://127.0.0.1:{}", protocol, listener->start().value());
  }

  [[nodiscard]] std::unique_ptr<client::client> client(client::options with = {}) const {
    auto made = connect(url, with);
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
    return std::move(*made);
  }

  test::fake_service service;
  std::unique_ptr<protocol::listener> listener;
  std::string url;
};

} // namespace

BOOST_DATA_TEST_CASE(an_inference_returns_its_tensors_unchanged, protocols, protocol) {
  fixture at{protocol};
  const auto client = at.client();
  const auto request = test::sample_request();
  const auto answer = client->infer(request);
  BOOST_REQUIRE_MESSAGE(answer.has_value(), answer.error().text);
  BOOST_TEST(answer->model_name == "echo");
  BOOST_TEST(answer->model_version == "1");
  BOOST_TEST(answer->id == "label");
  BOOST_REQUIRE(answer->outputs.size() == request.inputs.size());
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    BOOST_TEST(answer->outputs[i].name == request.inputs[i].name);
    BOOST_TEST(test::same(answer->outputs[i].value, request.inputs[i].value));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(answer->outputs[i].value.data.data())
                   % tensor_alignment
               == 0u);
  }
}

BOOST_DATA_TEST_CASE(parameters_reach_the_service, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  const auto client = at.client();
  auto request = test::sample_request();
  request.model_version = "7";
  request.parameters = {
      {"priority", std::int64_t{2}}, {"word", std::string{"x"}}, {"flag", true}, {"real", 0.5}};
  auto answer = client->infer_async(request);
  auto held = at.service.take();
  BOOST_TEST(held.request.priority == 2u);
  BOOST_TEST(held.request.model_version == "7");
  BOOST_TEST((held.request.parameters == request.parameters));
  BOOST_TEST((held.request.inputs[1].parameters == request.inputs[1].parameters));
  BOOST_TEST((held.request.outputs[1].parameters == request.outputs[1].parameters));
  held.echo();
  BOOST_TEST(answer.get().has_value());
}

BOOST_DATA_TEST_CASE(everything_else_a_server_knows_can_be_asked, protocols, protocol) {
  fixture at{protocol};
  const auto client = at.client();
  const auto health = client->health();
  BOOST_REQUIRE_MESSAGE(health.has_value(), health.error().text);
  BOOST_TEST(health->live);
  BOOST_TEST(health->ready);
  BOOST_TEST(health->server == "troupe");
  BOOST_TEST(!client->health("loading")->model_ready.value());
  BOOST_TEST(client->health("echo")->model_ready.value());
  BOOST_TEST((client->health("missing").error().code == errc::not_found));
  const auto metadata = client->metadata("echo", "2");
  BOOST_REQUIRE(metadata.has_value());
  BOOST_TEST(metadata->versions.at(0) == "2");
  BOOST_TEST(metadata->inputs.at(0).shape.at(0) == -1);
  BOOST_TEST(metadata->properties.at("character") == "a\nb");
  BOOST_TEST((client->metadata("missing").error().code == errc::not_found));
  BOOST_TEST(client->index()->at(1).reason == "no file");
  const auto stats = client->statistics("echo");
  BOOST_REQUIRE(stats.has_value());
  BOOST_TEST(stats->at(0).queue.ns == 70u);
  BOOST_TEST(stats->at(0).batches.at(0).batch_size == 4u);
  BOOST_TEST(client->load("echo").has_value());
  BOOST_TEST(client->unload("echo").has_value());
  BOOST_TEST((client->load("missing").error().code == errc::not_found));
}

BOOST_DATA_TEST_CASE(many_requests_are_in_flight_at_once, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  const auto client = at.client();
  std::vector<std::future<protocol::response_part>> answers;
  for (int i = 0; i < 32; ++i) {
    auto request = test::sample_request();
    request.id = std::to_string(i);
    answers.push_back(client->infer_async(std::move(request)));
  }
  at.service.wait_for_held(32);
  std::vector<test::fake_service::held_call> calls;
  for (int i = 0; i < 32; ++i)
    calls.push_back(at.service.take());
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    call->echo();
  for (int i = 0; i < 32; ++i)
    BOOST_TEST(answers[static_cast<std::size_t>(i)].get().value().id == std::to_string(i));
}

BOOST_DATA_TEST_CASE(refusals_carry_their_code_and_when_to_come_back, protocols, protocol) {
  fixture at{protocol};
  at.service.refuse(error{errc::resource_exhausted, "queue is full", 2000});
  const auto client = at.client();
  const auto refused = client->infer(test::sample_request());
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == errc::resource_exhausted));
  BOOST_TEST(refused.error().text == "queue is full");
  BOOST_TEST(refused.error().retry_after_ms == 2000u);
  at.service.refuse({});
  BOOST_TEST(client->infer(test::sample_request()).has_value());
}

BOOST_DATA_TEST_CASE(a_request_that_takes_too_long_is_given_up_and_cancelled, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  const auto client = at.client({.timeout = 30ms});
  const auto late = client->infer(test::sample_request());
  BOOST_REQUIRE(!late.has_value());
  BOOST_TEST((late.error().code == errc::deadline_exceeded), late.error().text);
  at.service.wait_for_cancellations(1);
  at.service.take().fail_with({errc::cancelled, "cancelled"});
  at.service.hold = false;
  // The same short time holds for these; on a busy machine one may take longer.
  while (!client->infer(test::sample_request()).has_value()) {
  }
}

BOOST_DATA_TEST_CASE(a_client_allows_itself_so_many_requests, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  const auto client = at.client({.max_in_flight = 2});
  auto first = client->infer_async(test::sample_request());
  auto second = client->infer_async(test::sample_request());
  const auto third = client->infer(test::sample_request());
  BOOST_REQUIRE(!third.has_value());
  BOOST_TEST((third.error().code == errc::resource_exhausted));
  at.service.take().echo();
  at.service.take().echo();
  BOOST_TEST(first.get().has_value());
  BOOST_TEST(second.get().has_value());
}

BOOST_DATA_TEST_CASE(a_server_that_goes_away_fails_what_is_in_flight, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  const auto client = at.client();
  auto answer = client->infer_async(test::sample_request());
  auto held = at.service.take();
  at.listener.reset();
  const auto failed = answer.get();
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST((failed.error().code == errc::unavailable));
  BOOST_TEST((client->infer(test::sample_request()).error().code == errc::unavailable));
}

BOOST_DATA_TEST_CASE(a_client_that_is_closed_answers_what_was_in_flight, protocols, protocol) {
  fixture at{protocol};
  at.service.hold = true;
  auto client = at.client();
  auto answer = client->infer_async(test::sample_request());
  at.service.wait_for_held(1);
  client.reset();
  BOOST_TEST((answer.get().error().code == errc::cancelled));
  at.service.wait_for_cancellations(1);
}

BOOST_AUTO_TEST_CASE(connecting_to_nobody_or_to_what_is_not_built_is_an_error) {
  BOOST_TEST((connect("grpc://127.0.0.1:1").error().code == errc::unimplemented));
  BOOST_TEST((connect("127.0.0.1:1").error().code == errc::invalid_argument));
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken{io, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  const auto port = taken.local_endpoint().port();
  taken.close();
  BOOST_TEST((connect(fmt::format("tcp://127.0.0.1:{}", port)).error().code == errc::unavailable));
  BOOST_TEST((connect(fmt::format("http://127.0.0.1:{}", port)).error().code == errc::unavailable));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_no_frame_ends_the_connection) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor{io, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  const auto client =
      connect(fmt::format("tcp://127.0.0.1:{}", acceptor.local_endpoint().port())).value();
  auto socket = acceptor.accept();
  auto answer = client->infer_async(test::sample_request());
  boost::asio::write(socket, boost::asio::buffer("HTTP/1.1 400 Bad Request\r\n\r\n", 28));
  BOOST_TEST((answer.get().error().code == errc::invalid_argument));
}
