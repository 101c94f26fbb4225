#include <boost/test/unit_test.hpp>

#include "protocol/msgpack/decode.hpp"
#include "protocol/msgpack/scanner.hpp"
#include "tests/protocol/raw_client.hpp"
#include "tests/protocol/samples.hpp"

using namespace troupe;
using namespace troupe::protocol::rpc;
using namespace std::string_literals;
using state = frame_scanner::state;

namespace {

/// What a scan of the whole frame, handed over in the given pieces, ends with.
struct outcome {
  state end = state::head;
  std::string text;
  errc code{};
  std::string head;
  std::vector<std::string> payloads;
};

outcome scan_in_pieces(const std::string& frame, std::size_t cut, const limits& bounds = {}) {
  frame_scanner scanner{bounds};
  outcome got;
  std::string waiting;
  const auto feed = [&](std::string_view part) {
    waiting += part;
    while (true) {
      const auto taken = scanner.scan(std::as_bytes(std::span{waiting}));
      got.head += waiting.substr(0, taken);
      waiting.erase(0, taken);
      if (scanner.now() != state::payload || waiting.size() < scanner.payload_size())
        return;
      got.payloads.push_back(waiting.substr(0, scanner.payload_size()));
      waiting.erase(0, scanner.payload_size());
      scanner.payload_taken();
    }
  };
  feed(frame.substr(0, cut));
  feed(frame.substr(cut));
  got.end = scanner.now();
  got.text = scanner.failure().text;
  got.code = scanner.failure().code;
  return got;
}

outcome scan(const std::string& frame, const limits& bounds = {}) {
  return scan_in_pieces(frame, frame.size(), bounds);
}

const std::string open_infer = "\x94\x00\x07\xa5infer"s;

} // namespace

BOOST_AUTO_TEST_CASE(a_frame_scans_the_same_wherever_it_is_split) {
  const auto frame = test::raw_client::flat(encode_infer_request(7, test::sample_request()));
  const auto whole = scan(frame);
  BOOST_REQUIRE(whole.end == state::done);
  BOOST_TEST(whole.payloads.size() == 3u);
  BOOST_TEST(whole.payloads[0].size() == 16u);
  BOOST_TEST(whole.payloads[2].empty());
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    const auto parts = scan_in_pieces(frame, cut);
    BOOST_TEST(
        (parts.end == state::done && parts.head == whole.head && parts.payloads == whole.payloads),
        "cut at " << cut);
  }
}

BOOST_AUTO_TEST_CASE(every_truncation_of_a_frame_asks_for_more) {
  const auto frame = test::raw_client::flat(encode_infer_request(7, test::sample_request()));
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const auto part = scan(frame.substr(0, length));
    BOOST_TEST((part.end == state::head || part.end == state::payload), "length " << length);
  }
}

BOOST_AUTO_TEST_CASE(a_three_gigabyte_claim_in_a_small_frame_is_refused) {
  const auto got = scan(open_infer + "\x92\x80\xc6\xc0\x00\x00\x00"s);
  BOOST_TEST((got.end == state::failed));
  BOOST_TEST((got.code == errc::resource_exhausted));
  BOOST_TEST(got.text.find("3221225472 bytes") != std::string::npos, got.text);
}

BOOST_AUTO_TEST_CASE(claims_beyond_the_limits_are_refused_before_their_content) {
  const std::vector<std::string> claims{
      open_infer + "\x92\xdb\xff\xff\xff\xff"s,       // a string of 4 GiB
      open_infer + "\x92\xdd\xff\xff\xff\xff"s,       // an array of 2^32 elements
      open_infer + "\x92\xdf\xff\xff\xff\xff"s,       // a map of 2^32 pairs
      open_infer + "\xdd\xff\xff\xff\xff"s,           // so many params
      "\x94\x00\x07\xdb\x7f\xff\xff\xff"s,            // a method's name of 2 GiB
      open_infer + "\x91"s + std::string(20, '\x91'), // nested 21 deep
  };
  for (const auto& claim : claims) {
    const auto got = scan(claim);
    BOOST_TEST((got.end == state::failed && got.code == errc::resource_exhausted), got.text);
  }
}

BOOST_AUTO_TEST_CASE(small_limits_hold_exactly) {
  limits bounds;
  bounds.head_bytes = 13;
  const auto frame = open_infer + "\x91\xa3xyz"s; // 9 + 5 bytes
  BOOST_TEST((scan(frame, bounds).end == state::failed));
  bounds.head_bytes = 14;
  BOOST_TEST((scan(frame, bounds).end == state::done));

  bounds = {};
  bounds.payload_bytes = 3;
  const auto two = open_infer + "\x93\x80\xc4\x02zz\xc4\x01z"s;
  BOOST_TEST((scan(two, bounds).end == state::done));
  bounds.payload_bytes = 2;
  BOOST_TEST((scan(two, bounds).end == state::failed));
  bounds.payload_bytes = 3;
  bounds.tensors = 1;
  BOOST_TEST((scan(two, bounds).end == state::failed));
  bounds.tensors = 2;
  bounds.values = 8;
  BOOST_TEST((scan(two, bounds).end == state::done));
  bounds.values = 7;
  BOOST_TEST((scan(two, bounds).end == state::failed));
}

BOOST_AUTO_TEST_CASE(malformed_frames_are_named) {
  const std::vector<std::string> malformed{
      "\xc1"s,                                         // never used
      "\x07"s,                                         // not an array
      "\x92\x00\x01"s,                                 // an array of 2
      "\x95\x00\x01"s,                                 // of 5
      "\x94\x03"s,                                     // unknown kind
      "\x93\x00"s,                                     // a request of 3
      "\x94\x02"s,                                     // a notification of 4
      "\x94\x00\xff"s,                                 // a negative id
      "\x94\x00\xcf\x00\x00\x00\x01\x00\x00\x00\x00"s, // an id of 2^32
      "\x94\x00\x01\x05"s,                             // a method that is a number
      "\x94\x00\x01\xa1m\x80"s,                        // params that are a map
      "\x94\x00\x01\xa1m\x91\xc4\x01z"s,               // a bin in the header's place
      "\x94\x00\x01\xa1m\x92\x81\xa1k\xc4\x01z"s,      // a bin inside the header
      "\x94\x00\x01\xa1m\x92\x80\xd4\x01z"s,           // an ext
      "GET / HTTP/1.1\r\n\r\n"s,
  };
  for (const auto& frame : malformed) {
    const auto got = scan(frame);
    BOOST_TEST(
        (got.end == state::failed && got.code == errc::invalid_argument && !got.text.empty()),
        frame << ": " << got.text);
  }
}

BOOST_AUTO_TEST_CASE(the_places_of_a_heads_values_are_found) {
  const auto frame = "\x94\x01\x05\xc0\x92\x81\xa1k\x01\xc4\x01z"s;
  frame_scanner scanner{{}};
  BOOST_TEST(scanner.scan(std::as_bytes(std::span{frame})) == frame.size() - 1);
  BOOST_TEST((scanner.now() == state::payload));
  BOOST_TEST((scanner.kind() == frame_kind::response));
  BOOST_TEST(scanner.id().value() == 5u);
  BOOST_TEST(scanner.element(2) == 3u);
  BOOST_TEST(scanner.element(3) == 4u);
  BOOST_TEST(scanner.parameters() == 2u);
  BOOST_TEST(scanner.header_begin() == 5u);
  BOOST_TEST(scanner.header_end() == 9u);
  scanner.payload_taken();
  BOOST_TEST((scanner.now() == state::done));
}

BOOST_AUTO_TEST_CASE(the_frame_of_the_documentation_is_what_it_says) {
  const auto frame = "\x94\x00\x07\xa5infer\x92\x82\xaamodel_name\xa4"
                     "echo\xa6inputs\x91\x84\xa4name\xa1x\xa8"
                     "datatype\xa4"
                     "FP32\xa5shape\x92\x01\x04\xa9"
                     "byte_size\x10\xc4\x10"
                     "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40"s;
  protocol::inference_request request;
  request.model_name = "echo";
  request.inputs.push_back({"x", test::floats({1, 4}, {1, 2, 3, 4}), {}});
  BOOST_TEST(test::raw_client::flat(encode_infer_request(7, request)) == frame);
  BOOST_TEST((scan(frame).end == state::done));
}
