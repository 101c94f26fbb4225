#include <boost/test/unit_test.hpp>

#include "protocol/rest/infer_json.hpp"
#include "protocol/rest/response.hpp"
#include "protocol/rest/target.hpp"
#include "tests/protocol/samples.hpp"

#include <cmath>

using namespace troupe;
using namespace troupe::protocol;
using namespace troupe::protocol::rest;
using namespace std::string_literals;

namespace {

result<infer_json> decode(std::string json, const limits& bounds = {}) {
  const auto length = json.size();
  json.append(json_padding, '\0');
  return decode_infer(std::string_view{json}.substr(0, length), bounds);
}

std::string input_json(std::string_view datatype, std::string_view shape, std::string_view data) {
  return fmt::format(R"({{"inputs":[{{"name":"x","datatype":"{}","shape":{},"data":{}}}]}})",
                     datatype, shape, data);
}

template <class T>
std::vector<T> values_of(const result<infer_json>& read) {
  const auto all = elements_of<T>(read->request.inputs.at(0).value.data);
  return {all.begin(), all.end()};
}

std::string why(const result<infer_json>& read) {
  return read ? "accepted" : read.error().text;
}

} // namespace

BOOST_AUTO_TEST_CASE(targets_lead_to_endpoints) {
  const auto goes = [](std::string_view target, endpoint what, std::string model = {},
                       std::string version = {}) {
    const auto to = parse_target(target);
    BOOST_REQUIRE_MESSAGE(to.has_value(), target);
    BOOST_TEST((to->what == what), target);
    BOOST_TEST(to->model == model);
    BOOST_TEST(to->version == version);
  };
  goes("/v2", endpoint::server_metadata);
  goes("/v2/", endpoint::server_metadata);
  goes("/v2/health/live", endpoint::live);
  goes("/v2/health/ready?verbose=1", endpoint::ready);
  goes("/v2/models/m", endpoint::model_metadata, "m");
  goes("/v2/models/m/versions/12", endpoint::model_metadata, "m", "12");
  goes("/v2/models/m/versions/12/infer", endpoint::infer, "m", "12");
  goes("/v2/models/m/infer", endpoint::infer, "m");
  goes("/v2/models/m/ready", endpoint::model_ready, "m");
  goes("/v2/models/m/stats", endpoint::statistics, "m");
  goes("/v2/models/stats", endpoint::statistics);
  goes("/v2/models/stats/infer", endpoint::infer, "stats");
  goes("/v2/models/a%2Fb%20c/infer", endpoint::infer, "a/b c");
  goes("/v2/repository/index", endpoint::index);
  goes("/v2/repository/models/m/load", endpoint::load, "m");
  goes("/v2/repository/models/m/unload", endpoint::unload, "m");
}

BOOST_AUTO_TEST_CASE(other_targets_lead_nowhere) {
  for (const auto* target :
       {"/", "/v1", "/v2/models", "/v2/models/m/fly", "/v2//health/live",
        "/v2/models/m/versions/1/x/y", "/v2/a/b/c/d/e/f/g/h/i/j", "/v2/repository/other/m/load"})
    BOOST_TEST((parse_target(target).error().code == errc::not_found), target);
  for (const auto* target :
       {"", "v2", "/v2/models/m/versions/x/infer", "/v2/models/%zz", "/v2/models/%4"})
    BOOST_TEST((parse_target(target).error().code == errc::invalid_argument), target);
}

BOOST_AUTO_TEST_CASE(json_data_may_be_flat_or_nested) {
  const std::vector<float> expected{1, 2.5f, -3, 4e10f};
  BOOST_TEST(values_of<float>(decode(input_json("FP32", "[2,2]", "[1,2.5,-3,4e10]"))) == expected);
  BOOST_TEST(values_of<float>(decode(input_json("FP32", "[2,2]", "[[1,2.5],[-3,4e10]]")))
             == expected);
  BOOST_TEST(values_of<float>(decode(input_json("FP32", "[]", "[7]"))) == std::vector<float>{7});
  BOOST_TEST(values_of<float>(decode(input_json("FP32", "[0,3]", "[]"))).empty());
}

BOOST_AUTO_TEST_CASE(every_type_that_json_carries_is_read_exactly) {
  BOOST_TEST(values_of<std::int8_t>(decode(input_json("INT8", "[2]", "[-128,127]")))
             == (std::vector<std::int8_t>{-128, 127}));
  BOOST_TEST(values_of<std::uint8_t>(decode(input_json("UINT8", "[2]", "[0,255]")))
             == (std::vector<std::uint8_t>{0, 255}));
  BOOST_TEST(values_of<std::int16_t>(decode(input_json("INT16", "[1]", "[-32768]")))
             == std::vector<std::int16_t>{-32768});
  BOOST_TEST(values_of<std::uint16_t>(decode(input_json("UINT16", "[1]", "[65535]")))
             == std::vector<std::uint16_t>{65535});
  BOOST_TEST(values_of<std::int32_t>(decode(input_json("INT32", "[1]", "[-2147483648]")))
             == std::vector<std::int32_t>{-2147483647 - 1});
  BOOST_TEST(values_of<std::uint32_t>(decode(input_json("UINT32", "[1]", "[4294967295]")))
             == std::vector<std::uint32_t>{4294967295u});
  BOOST_TEST(values_of<std::int64_t>(decode(input_json("INT64", "[1]", "[9007199254740993]")))
             == std::vector<std::int64_t>{9007199254740993});
  BOOST_TEST(values_of<std::uint64_t>(decode(input_json("UINT64", "[1]", "[18446744073709551615]")))
             == std::vector<std::uint64_t>{~0ull});
  BOOST_TEST(values_of<double>(decode(input_json("FP64", "[1]", "[1e300]")))
             == std::vector<double>{1e300});
  BOOST_TEST(values_of<std::uint8_t>(decode(input_json("BOOL", "[2]", "[true,false]")))
             == (std::vector<std::uint8_t>{1, 0}));
  const auto special =
      values_of<float>(decode(input_json("FP32", "[3]", R"(["NaN","Infinity","-Infinity"])")));
  BOOST_TEST(std::isnan(special[0]));
  BOOST_TEST(special[1] == INFINITY);
  BOOST_TEST(special[2] == -INFINITY);
  const auto text = decode(input_json("BYTES", "[2]", R"(["a\u00e9",""])"));
  BOOST_REQUIRE(text.has_value());
  const auto strings = unpack_strings(text->request.inputs[0].value);
  BOOST_TEST(strings->at(0) == "aé");
  BOOST_TEST(strings->at(1) == "");
}

BOOST_AUTO_TEST_CASE(values_that_do_not_fit_their_type_are_refused) {
  const std::vector<std::pair<const char*, const char*>> wrong{{"INT8", "[128]"},
                                                               {"INT8", "[-129]"},
                                                               {"UINT8", "[-1]"},
                                                               {"UINT8", "[256]"},
                                                               {"INT16", "[32768]"},
                                                               {"UINT16", "[65536]"},
                                                               {"INT32", "[2147483648]"},
                                                               {"UINT32", "[4294967296]"},
                                                               {"INT64", "[9223372036854775808]"},
                                                               {"UINT64", "[-1]"},
                                                               {"UINT64", "[18446744073709551616]"},
                                                               {"INT32", "[1.0]"},
                                                               {"INT32", "[\"1\"]"},
                                                               {"INT32", "[true]"},
                                                               {"INT32", "[null]"},
                                                               {"FP32", "[1e39]"},
                                                               {"FP32", "[true]"},
                                                               {"FP32", "[\"nan\"]"},
                                                               {"FP64", "[1e400]"},
                                                               {"BOOL", "[1]"},
                                                               {"BYTES", "[1]"},
                                                               {"FP16", "[1]"},
                                                               {"BF16", "[1]"},
                                                               {"FP32", "[]"},
                                                               {"FP32", "[1,2]"},
                                                               {"FP32", "[[1],[2]]"},
                                                               {"FP32", "1"},
                                                               {"FP32", "[{}]"},
                                                               {"FP128", "[1]"}};
  for (const auto& [type, data] : wrong) {
    const auto read = decode(input_json(type, "[1]", data));
    BOOST_REQUIRE_MESSAGE(!read.has_value(), type << data << " was accepted");
    BOOST_TEST((read.error().code == errc::invalid_argument));
  }
}

BOOST_AUTO_TEST_CASE(a_shape_alone_claims_no_memory) {
  BOOST_TEST(why(decode(input_json("FP32", "[1000000,1000000]", "[1]"))).find("data fewer")
             != std::string::npos);
  for (const auto* shape : {"[-1]", "[9223372036854775807,9223372036854775807]", "[1.5]", "[\"1\"]",
                            "1", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"})
    BOOST_TEST(!decode(input_json("FP32", shape, "[1]")).has_value(), shape);
}

BOOST_AUTO_TEST_CASE(requests_that_are_no_requests_say_why) {
  for (const auto* json :
       {"", "{", "[]", "7", "{}", "{\"inputs\":7}", "{\"inputs\":[7]}", "{\"inputs\":[{}]}",
        "{\"inputs\":[],\"id\":7}", "{\"inputs\":[],\"parameters\":7}",
        "{\"inputs\":[],\"parameters\":{\"p\":[]}}", "{\"inputs\":[],\"outputs\":7}",
        "{\"inputs\":[],\"outputs\":[{}]}", "{\"inputs\":[]} x",
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1]}]}",
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1],"
        "\"parameters\":{\"binary_data_size\":4}}]}",
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_"
        "data_size\":-4}}]}",
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_"
        "data_size\":5}}]}",
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_"
        "data_size\":true}}]}"}) {
    const auto read = decode(json);
    BOOST_REQUIRE_MESSAGE(!read.has_value(), json);
    BOOST_TEST(!read.error().text.empty());
  }
  limits bounds;
  BOOST_TEST(!decode(input_json("FP32", "[1]",
                                std::string(bounds.depth + 1, '[') + "1"
                                    + std::string(bounds.depth + 1, ']')))
                  .has_value());
  BOOST_TEST(decode(input_json("FP32", "[1]", std::string(16, '[') + "1" + std::string(16, ']')))
                 .has_value());
  bounds.tensors = 1;
  BOOST_TEST((decode(R"({"inputs":[],"outputs":[{"name":"a"},{"name":"b"}]})", bounds).error().code
              == errc::resource_exhausted));
}

BOOST_AUTO_TEST_CASE(binary_inputs_and_the_wishes_for_outputs_are_found) {
  const auto read =
      decode(R"({"id":"7","parameters":{"binary_data_output":true,"temperature":0.5,"priority":2},
    "inputs":[{"name":"a","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}},
              {"name":"b","datatype":"INT32","shape":[1],"data":[5]},
              {"name":"c","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9,"kind":"png"}}],
    "outputs":[{"name":"y","parameters":{"binary_data":false,"classification":3}}]})");
  BOOST_REQUIRE_MESSAGE(read.has_value(), why(read));
  BOOST_TEST(read->binary_total == 12u);
  BOOST_REQUIRE(read->binary.size() == 2u);
  BOOST_TEST(read->binary[1].first == 2u);
  BOOST_TEST(read->form.binary);
  BOOST_TEST(read->form.by_name.at(0).second == false);
  BOOST_TEST(read->request.parameters.size() == 2u);
  BOOST_TEST(read->request.inputs[2].parameters.size() == 1u);
  BOOST_TEST(std::get<std::int64_t>(read->request.outputs.at(0).parameters.at("classification"))
             == 3);
}

BOOST_AUTO_TEST_CASE(answers_are_written_as_kserve_has_them) {
  inference_response answer;
  answer.model_name = "m";
  answer.model_version = "1";
  answer.id = "a\"b";
  answer.outputs.push_back({"y", test::floats({1, 4}, {1, 0.1f, -INFINITY, NAN}), {}});
  answer.outputs.push_back({"t", *pack_strings(std::vector{"é\n"s}), {}});
  answer.outputs.push_back({"b", test::tensor_of<std::uint8_t>(dtype::boolean, {2}, {1, 0}), {}});
  const auto text = encode_infer(answer, {});
  BOOST_REQUIRE(text.has_value());
  BOOST_TEST(text->body
             == R"({"model_name":"m","model_version":"1","id":"a\"b","outputs":[)"
                R"({"name":"y","datatype":"FP32","shape":[1,4],"data":[1,0.1,"-Infinity","NaN"]},)"
                R"({"name":"t","datatype":"BYTES","shape":[1],"data":["é\n"]},)"
                R"({"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]}]})");
  const auto binary = encode_infer(answer, {.binary = true, .by_name = {{"b", false}}});
  BOOST_REQUIRE(binary.has_value());
  BOOST_TEST(binary->has_tail);
  BOOST_TEST(binary->tail.size() == 2u);
  BOOST_TEST(binary->tail[0].data() == answer.outputs[0].value.data.data());
  BOOST_TEST(binary->body.find(R"("shape":[1,4],"parameters":{"binary_data_size":16}})")
                 != std::string::npos,
             binary->body);
}

BOOST_AUTO_TEST_CASE(outputs_that_json_cannot_carry_say_so) {
  inference_response answer;
  answer.outputs.push_back({"h", test::tensor_of<std::uint16_t>(dtype::float16, {1}, {0}), {}});
  BOOST_TEST(encode_infer(answer, {}).error().text.find("binary") != std::string::npos);
  BOOST_TEST(encode_infer(answer, {.binary = true, .by_name = {}}).has_value());
  answer.outputs = {{"raw", *pack_strings(std::vector{"\xff\xfe"s}), {}}};
  BOOST_TEST(encode_infer(answer, {}).error().text.find("UTF-8") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(errors_have_their_status) {
  BOOST_TEST(status_of(errc::resource_exhausted, false) == 429);
  BOOST_TEST(status_of(errc::resource_exhausted, true) == 503);
  BOOST_TEST(status_of(errc::deadline_exceeded, false) == 504);
  BOOST_TEST(status_of(errc::deadline_exceeded, true) == 503);
  BOOST_TEST(status_of(errc::not_found, false) == 404);
  const auto busy = error_response({errc::resource_exhausted, "full \xff", 1001}, false);
  BOOST_TEST(busy.body == R"({"error":"full ?"})");
  const auto head = format_head(busy, true);
  BOOST_TEST(head.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
  BOOST_TEST(head.find("Retry-After: 2\r\n") != std::string::npos);
}
