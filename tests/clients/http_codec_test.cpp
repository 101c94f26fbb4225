#include <boost/test/unit_test.hpp>

#include "clients/cpp/http_codec.hpp"
#include "clients/cpp/url.hpp"
#include "tests/protocol/samples.hpp"

using namespace troupe;
using namespace troupe::client;

BOOST_AUTO_TEST_CASE(urls_are_read_and_wrong_ones_named) {
  const auto plain = parse_url("tcp://localhost");
  BOOST_REQUIRE(plain.has_value());
  BOOST_TEST(plain->host == "localhost");
  BOOST_TEST(plain->port == 8003);
  const auto full = parse_url("http://[::1]:9000/");
  BOOST_REQUIRE(full.has_value());
  BOOST_TEST((full->how == scheme::http));
  BOOST_TEST(full->host == "::1");
  BOOST_TEST(full->port == 9000);
  for (const auto* wrong :
       {"", "localhost", "ftp://x", "tcp://", "tcp://:80", "tcp://x:", "tcp://x:0", "tcp://x:99999",
        "tcp://x:8o", "http://x/v2", "tcp://[::1"})
    BOOST_TEST(!parse_url(wrong).has_value(), wrong);
}

BOOST_AUTO_TEST_CASE(names_are_encoded_in_paths) {
  BOOST_TEST(model_path("a/b c", "") == "/v2/models/a%2Fb%20c");
  BOOST_TEST(model_path("m", "3") == "/v2/models/m/versions/3");
}

BOOST_AUTO_TEST_CASE(answers_that_are_none_are_errors) {
  const auto reply = [](std::string body, std::size_t json_bytes) {
    return http_reply{200, std::move(body), json_bytes, 0};
  };
  const std::string good =
      R"({"model_name":"m","outputs":[{"name":"y","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]})";
  BOOST_TEST(decode_infer(reply(good + "ab", good.size())).has_value());
  BOOST_TEST(!decode_infer(reply(good + "a", good.size())).has_value());
  BOOST_TEST(!decode_infer(reply("{", 1)).has_value());
  BOOST_TEST(!decode_infer(reply("{}", 2)).has_value());
  BOOST_TEST(!decode_infer(reply("[]", 2)).has_value());
  const std::string wrong =
      R"({"model_name":"m","outputs":[{"name":"y","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":2}}]})";
  BOOST_TEST(!decode_infer(reply(wrong + "ab", wrong.size())).has_value());
  const auto busy = decode_infer({429, R"({"error":"full"})", 16, 2});
  BOOST_REQUIRE(!busy.has_value());
  BOOST_TEST((busy.error().code == errc::resource_exhausted));
  BOOST_TEST(busy.error().text == "full");
  BOOST_TEST(busy.error().retry_after_ms == 2000u);
}
