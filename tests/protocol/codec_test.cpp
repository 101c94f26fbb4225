#include <boost/test/unit_test.hpp>

#include "protocol/msgpack/decode.hpp"
#include "protocol/tensor_check.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

using namespace troupe;
using namespace troupe::protocol;
using namespace troupe::protocol::rpc;
using namespace std::string_literals;

namespace {

/// Where the scanner finds the first of the last array's values.
std::string header_of(const std::string& frame) {
  frame_scanner scanner{{}};
  scanner.scan(std::as_bytes(std::span{frame}));
  return frame.substr(scanner.header_begin(), scanner.header_end() - scanner.header_begin());
}

std::string result_of(const outgoing_frame& frame) {
  const auto flat = test::raw_client::flat(frame);
  frame_scanner scanner{{}};
  scanner.scan(std::as_bytes(std::span{flat}));
  return flat.substr(scanner.element(3));
}

value_bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

} // namespace

BOOST_AUTO_TEST_CASE(a_request_header_survives_the_round_trip) {
  const auto request = test::sample_request();
  const auto header = header_of(test::raw_client::flat(encode_infer_request(1, request)));
  const auto read = decode_request_header(bytes_of(header), 3);
  BOOST_REQUIRE_MESSAGE(read.has_value(), read.error().text);
  BOOST_TEST(read->request.model_name == "echo");
  BOOST_TEST(read->request.id == "label");
  BOOST_TEST((read->request.parameters == request.parameters));
  BOOST_REQUIRE(read->request.inputs.size() == 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(read->request.inputs[i].name == request.inputs[i].name);
    BOOST_TEST((read->request.inputs[i].value.dims == request.inputs[i].value.dims));
    BOOST_TEST((read->request.inputs[i].value.type == request.inputs[i].value.type));
    BOOST_TEST((read->request.inputs[i].parameters == request.inputs[i].parameters));
    BOOST_TEST(read->sizes[i] == request.inputs[i].value.data.size());
  }
  BOOST_TEST(read->total == 16u + 10u);
  BOOST_REQUIRE(read->request.outputs.size() == 2u);
  BOOST_TEST((read->request.outputs[1].parameters == request.outputs[1].parameters));
}

BOOST_AUTO_TEST_CASE(payloads_are_sent_from_where_they_lie) {
  const auto request = test::sample_request();
  const auto frame = encode_infer_request(1, request);
  bool shared = false;
  for (const auto piece : frame.pieces())
    shared = shared || piece.data() == request.inputs[0].value.data.data();
  BOOST_TEST(shared);
}

BOOST_AUTO_TEST_CASE(every_answer_survives_the_round_trip) {
  model_metadata meta{
      "m", {"1", "2"}, "onnx", {{"x", "FP32", {-1, 3}}}, {{"y", "BYTES", {}}}, {{"k", "v"}}};
  const auto meta_read = decode_metadata(bytes_of(result_of(encode_response(1, meta))));
  BOOST_REQUIRE(meta_read.has_value());
  BOOST_TEST(meta_read->versions == meta.versions);
  BOOST_TEST(meta_read->inputs[0].shape == meta.inputs[0].shape);
  BOOST_TEST((meta_read->properties == meta.properties));

  const auto index = decode_index(bytes_of(
      result_of(encode_response(1, std::vector<model_index_entry>{{"m", "1", "READY", "why"}}))));
  BOOST_REQUIRE(index.has_value());
  BOOST_TEST(index->at(0).reason == "why");

  model_statistics stats;
  stats.name = "m";
  stats.queue = {3, 30};
  stats.batches = {{8, {2, 20}}};
  const auto stats_read =
      decode_statistics(bytes_of(result_of(encode_response(1, std::vector{stats}))));
  BOOST_REQUIRE(stats_read.has_value());
  BOOST_TEST(stats_read->at(0).queue.ns == 30u);
  BOOST_TEST(stats_read->at(0).batches.at(0).compute_infer.count == 2u);

  const auto alive = decode_health(bytes_of(result_of(encode_response(
      1,
      health{.live = true, .ready = false, .server = "s", .version = "v", .model_ready = true}))));
  BOOST_REQUIRE(alive.has_value());
  BOOST_TEST(alive->live);
  BOOST_TEST(!alive->ready);
  BOOST_TEST(alive->model_ready.value());
  BOOST_TEST(alive->protocol == protocol_number);
}

BOOST_AUTO_TEST_CASE(every_error_code_survives_the_round_trip) {
  for (int code = 0; code <= static_cast<int>(errc::deadline_exceeded); ++code) {
    const error sent{static_cast<errc>(code), "why", code == 0 ? 0u : 250u};
    const auto flat = test::raw_client::flat(encode_error(9, sent));
    frame_scanner scanner{{}};
    scanner.scan(std::as_bytes(std::span{flat}));
    const auto read = decode_error(
        bytes_of(flat).subspan(scanner.element(2), scanner.element(3) - scanner.element(2)));
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST((read->code == sent.code));
    BOOST_TEST(read->text == sent.text);
    BOOST_TEST(read->retry_after_ms == sent.retry_after_ms);
  }
}

BOOST_AUTO_TEST_CASE(a_header_that_is_wrong_says_where) {
  struct wrong {
    std::string header;
    std::size_t payloads;
    std::string said;
  };
  const std::string name = "\xaamodel_name\xa1m"s;
  const std::string input = "\xa4name\xa1x\xa8"
                            "datatype\xa4"
                            "FP32\xa5shape\x91\x02\xa9"
                            "byte_size"s;
  const std::vector<wrong> cases{
      {"\x05", 0, "must be a map"},
      {"\x80", 0, "\"model_name\""},
      {"\x81" + name, 0, "\"inputs\""},
      {"\x81\xaamodel_name\x05", 0, "\"model_name\" must be a string"},
      {"\x82" + name + "\xa6inputs\x90", 1, "lists 0 tensors, the frame carries 1"},
      {"\x82" + name + "\xa6inputs\x91\x80", 1, "\"name\""},
      {"\x82" + name + "\xa6inputs\x91\x84" + input + "\x09", 1, "takes 8 bytes, got 9"},
      {"\x82" + name + "\xa6inputs\x91\x84" + input + "\xff", 1, "\"byte_size\""},
      {"\x82" + name
           + "\xa6inputs\x91\x82\xa4name\xa1x\xa8"
             "datatype\xa3"
             "FOO"s,
       1, "FOO"},
      {"\x82" + name
           + "\xa6inputs\x91\x84\xa4name\xa1x\xa8"
             "datatype\xa4"
             "FP32\xa5shape\x91\xff\xa9"
             "byte_size\x00"s,
       1, "\"x\""},
      {"\x83" + name + "\xa6inputs\x90\xaaparameters\x81\xa1p\x90", 0, "parameter \"p\""},
      {"\x83" + name + "\xa6inputs\x90\xa7outputs\x91\x01", 0, "\"name\""},
  };
  for (const auto& [header, payloads, said] : cases) {
    const auto read = decode_request_header(bytes_of(header), payloads);
    BOOST_REQUIRE_MESSAGE(!read.has_value(), "accepted: expected " << said);
    BOOST_TEST((read.error().code == errc::invalid_argument));
    BOOST_TEST(read.error().text.find(said) != std::string::npos,
               read.error().text << " / " << said);
  }
}

BOOST_AUTO_TEST_CASE(payloads_that_are_not_their_type_are_refused) {
  const auto bytes = [](std::vector<unsigned char> raw, dtype type, shape dims) {
    return named_tensor{"t", test::tensor_of(type, std::move(dims), raw), {}};
  };
  BOOST_TEST(check_tensor(bytes({0, 1}, dtype::boolean, {2})).has_value());
  BOOST_TEST(!check_tensor(bytes({0, 2}, dtype::boolean, {2})).has_value());
  BOOST_TEST(!check_tensor(bytes({0, 1, 1}, dtype::boolean, {2})).has_value());
  BOOST_TEST(check_tensor(bytes({1, 0, 0, 0, 'a', 0, 0, 0, 0}, dtype::string, {2})).has_value());
  BOOST_TEST(!check_tensor(bytes({1, 0, 0, 0, 'a', 0, 0, 0, 0}, dtype::string, {1})).has_value());
  BOOST_TEST(!check_tensor(bytes({2, 0, 0, 0, 'a'}, dtype::string, {1})).has_value());
  BOOST_TEST(!check_tensor(bytes({255, 255, 255, 255}, dtype::string, {1})).has_value());
  BOOST_TEST(!check_tensor(bytes({0, 0, 0, 0, 1}, dtype::string, {1})).has_value());
  BOOST_TEST(!check_tensor(bytes({}, dtype::uint8, shape(17, 1))).has_value());
}

BOOST_AUTO_TEST_CASE(parameters_of_the_server_are_taken_from_a_request) {
  inference_request request;
  const time_point start{std::chrono::hours{1}};
  request.parameters = {{"priority", std::int64_t{3}}, {"timeout", std::int64_t{1500}}};
  BOOST_REQUIRE(apply_parameters(request, start).has_value());
  BOOST_TEST(request.priority == 3u);
  BOOST_TEST((request.deadline == start + std::chrono::microseconds{1500}));
  request.parameters = {{"timeout", std::int64_t{-1}}};
  BOOST_TEST(!apply_parameters(request, start).has_value());
  request.parameters = {{"priority", std::string{"high"}}};
  BOOST_TEST(!apply_parameters(request, start).has_value());
  request.parameters = {{"timeout", std::int64_t{1} << 62}};
  BOOST_TEST(!apply_parameters(request, start).has_value());
}
