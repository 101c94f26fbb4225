// Requests in a file, as a server keeps them and as a crash or a disk may leave them.

#include "protocol/msgpack/encode.hpp"
#include "protocol/msgpack/recorded_requests.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <fstream>

using namespace troupe;
using namespace troupe::protocol;
using namespace troupe::protocol::rpc;
namespace fs = std::filesystem;

namespace {

struct requests_file {
  requests_file() : path(fs::temp_directory_path() / fmt::format("troupe-{}.requests", getpid())) {}
  ~requests_file() { fs::remove(path); }

  result<recorded_requests> holding(const std::string& bytes) const {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
    return recorded_requests::open(path);
  }
  std::string refusal(const std::string& bytes) const {
    const auto read = holding(bytes);
    return read ? "accepted" : read.error().text.substr(path.string().size());
  }

  fs::path path;
};

std::string frame_of(std::uint32_t id, const inference_request& asked) {
  return test::raw_client::flat(encode_infer_request(id, asked));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(a_file_of_requests, requests_file)

BOOST_AUTO_TEST_CASE(gives_back_what_was_asked) {
  const auto first = test::sample_request();
  inference_request second;
  second.model_name = "none";
  auto read = holding(frame_of(7, first) + frame_of(70'000, second));
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.error().text));
  BOOST_REQUIRE(read->entries().size() == 2u);
  BOOST_TEST(read->cut_off() == 0u);
  BOOST_TEST(read->entries()[1].id == 70'000u);
  const auto none = read->load(read->entries()[1]);
  BOOST_REQUIRE(none);
  BOOST_TEST(none->model_name == "none");
  BOOST_TEST(none->inputs.empty());
  const auto again = read->load(read->entries()[0]);
  BOOST_REQUIRE_MESSAGE(again, (again ? "" : again.error().text));
  BOOST_TEST((again->parameters == first.parameters));
  BOOST_REQUIRE(again->inputs.size() == first.inputs.size());
  for (std::size_t i = 0; i < first.inputs.size(); ++i) {
    BOOST_TEST(again->inputs[i].name == first.inputs[i].name);
    BOOST_TEST(test::same(again->inputs[i].value, first.inputs[i].value));
  }
}

BOOST_AUTO_TEST_CASE(may_end_anywhere) {
  const auto one = frame_of(1, test::sample_request());
  const auto all = one + frame_of(2, test::sample_request());
  for (std::size_t end = 0; end < all.size(); ++end) {
    const auto read = holding(all.substr(0, end));
    BOOST_REQUIRE_MESSAGE(read, end << ": " << (read ? "" : read.error().text));
    BOOST_TEST(read->entries().size() == end / one.size());
    BOOST_TEST(read->cut_off() == end % one.size());
  }
}

BOOST_AUTO_TEST_CASE(that_is_none_is_refused) {
  const auto one = frame_of(1, test::sample_request());
  const auto at = fmt::format(": the frame at byte {}: ", one.size());
  BOOST_TEST(refusal("{\"troupe_capture\":1}").starts_with(": the frame at byte 0: "));
  BOOST_TEST(refusal(one + "rubbish").starts_with(at));
  BOOST_TEST(refusal(one + test::raw_client::flat(encode_request(2, "health")))
             == at + "expected infer with its header");
  BOOST_TEST(refusal(one + test::raw_client::flat(encode_nil(2))) == at + "expected a request");
  BOOST_TEST(refusal(one + test::raw_client::flat(encode_cancel(2))) == at + "expected a request");
  const auto gone = recorded_requests::open(path.string() + ".not");
  BOOST_REQUIRE(!gone);
  BOOST_TEST((gone.error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(whose_payloads_are_not_those_of_the_header_is_refused) {
  auto request = test::sample_request();
  request.inputs.resize(1);
  auto bytes = frame_of(1, request);
  const auto payload = bytes.find("\xc4\x10"); // a bin of 16 bytes
  BOOST_REQUIRE(payload != std::string::npos);
  BOOST_TEST(refusal(bytes.substr(0, payload) + "\x05")
             == ": the frame at byte 0: payload 0 has 0 bytes, its header says otherwise");
  bytes[payload + 1] = '\x0f';
  BOOST_TEST(refusal(bytes)
             == ": the frame at byte 0: payload 0 has 15 bytes, its header says otherwise");
}

BOOST_AUTO_TEST_CASE(that_changes_under_its_reader_is_noticed) {
  auto read = holding(frame_of(1, test::sample_request()));
  BOOST_REQUIRE(read);
  const auto entry = read->entries().at(0);
  fs::resize_file(path, 20);
  const auto gone = read->load(entry);
  BOOST_REQUIRE(!gone);
  BOOST_TEST((gone.error().code == errc::unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
