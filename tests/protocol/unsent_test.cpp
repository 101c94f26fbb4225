// Clients that ask and do not take their answers.

#include "protocol/msgpack/listener.hpp"
#include "protocol/rest/listener.hpp"
#include "tests/protocol/fake_service.hpp"
#include "tests/protocol/http_client.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

using namespace troupe;
using namespace troupe::protocol;
using namespace std::chrono_literals;
using test::http_client;
using test::raw_client;

namespace {

constexpr std::int64_t more_than_sockets_hold = 8'000'000; // of 4 bytes

/// `freed` becomes ready when the server holds the answer no longer.
inference_response answer_of(std::int64_t elements, std::promise<void>& freed) {
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(float);
  std::shared_ptr<std::byte[]> block{new std::byte[bytes]{}, [&freed](const std::byte* gone) {
                                       delete[] gone;
                                       freed.set_value();
                                     }};
  const auto* data = block.get();
  inference_response answer;
  answer.model_name = "echo";
  answer.outputs.push_back(
      {"y", tensor{dtype::float32, {elements}, {std::move(block), {data, bytes}}}, {}});
  return answer;
}

rpc::outgoing_frame question(std::uint32_t id) {
  return rpc::encode_infer_request(id, test::request_of(1));
}

const std::string binary_question = http_client::post_text(
    "/v2/models/echo/infer",
    R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[1]}]})");

template <class Limits>
Limits soon_cut() {
  Limits bounds;
  bounds.write_time = 10min;
  bounds.crowded_write_time = 20ms;
  return bounds;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_msgpack_client_that_takes_nothing_is_cut_where_clients_leave_too_much) {
  std::promise<void> freed;
  test::fake_service service;
  service.hold = true;
  msgpack_listener listener{service, {.max_unsent_bytes = 1 << 20}, soon_cut<rpc::limits>()};
  const auto port = listener.start().value();

  raw_client silent{port};
  silent.send(question(1));
  service.take().on_part(answer_of(more_than_sockets_hold, freed), true);
  freed.get_future().wait();

  raw_client reading{port};
  reading.send(question(2));
  service.take().echo();
  BOOST_TEST(reading.receive().value().ok());
  BOOST_TEST(!silent.receive().has_value());
}

BOOST_AUTO_TEST_CASE(a_msgpack_client_may_take_its_time_where_there_is_room) {
  std::promise<void> freed;
  test::fake_service service;
  service.hold = true;
  auto bounds = soon_cut<rpc::limits>();
  bounds.crowded_write_time = 1ms;
  msgpack_listener listener{service, {.max_unsent_bytes = 1 << 26}, bounds};
  const auto port = listener.start().value();

  raw_client slow{port};
  slow.send(question(1));
  service.take().on_part(answer_of(more_than_sockets_hold, freed), true);
  raw_client other{port};
  for (std::uint32_t id = 0; id < 200; ++id) {
    other.send(question(id));
    service.take().echo();
    BOOST_TEST(other.receive()->ok());
  }
  const auto reply = slow.receive();
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->payloads.at(0).size() == 4 * more_than_sockets_hold);
  freed.get_future().wait();
}

BOOST_AUTO_TEST_CASE(an_http_client_that_takes_nothing_is_cut_where_clients_leave_too_much) {
  std::promise<void> freed;
  test::fake_service service;
  service.hold = true;
  rest_listener listener{
      service, {.max_unsent_bytes = 1 << 20}, {.limits = soon_cut<rest::limits>()}};
  const auto port = listener.start().value();

  http_client silent{port};
  silent.send(binary_question);
  service.take().on_part(answer_of(more_than_sockets_hold, freed), true);
  freed.get_future().wait();

  http_client reading{port};
  reading.send(binary_question);
  service.take().echo();
  BOOST_TEST(reading.receive().value().status == 200);
  BOOST_TEST(!silent.receive().has_value());
}
