#include "runtime/capture/reader.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

using namespace troupe;
using namespace troupe::capture;
using namespace std::chrono_literals;

namespace {

const header about{7, {{"cpu", "cpu", 2}}, 64, 1 << 20, 60s};

result<std::optional<record>> second_of(const std::string& text) {
  std::istringstream from{to_line(about) + text};
  reader records{from};
  BOOST_REQUIRE(records.next());
  return records.next();
}

std::string why(const std::string& text) {
  const auto read = second_of(text);
  BOOST_REQUIRE(!read);
  return read.error().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(captures)

BOOST_AUTO_TEST_CASE(every_record_comes_back_as_it_was_written) {
  model of{3, "name \"quoted\"", "1", 8, 64, {}, {}, {0, 1}};
  of.policy.objective = 50ms;
  of.priorities.by_level[2].timeout = 5ms;
  const std::vector<record> all{about,
                                of,
                                shape_of_inputs{1, {{dtype::float32, {-1, 3}}}},
                                ask{1ms, 4, 3, 1, 2, 5, 10ms, 24},
                                turned_away{2ms, 99},
                                run{3ms, 3, 1, 1, 2, 3, 4, 7ms},
                                end{4ms, 4, true, "OK", 3ms},
                                end{5ms, 5, false, "UNAVAILABLE", 4ms},
                                lost{6},
                                payloads_lost{7}};
  std::string text;
  for (const auto& one : all)
    text += to_line(one);
  std::istringstream from{text};
  reader records{from};
  std::string again;
  for (;;) {
    const auto next = records.next();
    BOOST_REQUIRE_MESSAGE(next, (next ? "" : next.error().text));
    if (!*next)
      break;
    again += to_line(**next);
  }
  BOOST_TEST(again == text);
  BOOST_TEST(!records.cut_off());
}

BOOST_AUTO_TEST_CASE(a_last_line_that_is_cut_off_is_the_end) {
  std::istringstream from{to_line(about) + to_line(lost{1}) + R"({"is":"ask","at":1)"};
  reader records{from};
  BOOST_TEST((records.next()->has_value()));
  BOOST_TEST((records.next()->has_value()));
  const auto last = records.next();
  BOOST_REQUIRE(last);
  BOOST_TEST(!last->has_value());
  BOOST_TEST(records.cut_off());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_line_is_said_with_its_number) {
  BOOST_TEST(why("{}\n") == "line 2: \"is\" is missing");
  BOOST_TEST(why("nothing\n") == "line 2: expected JSON");
  BOOST_TEST(why("[1]\n") == "line 2: expected a JSON object");
  BOOST_TEST(why(R"({"is":"turned_away","at":-1,"bytes":1})"
                 "\n")
                 .starts_with("line 2: \"at\": expected a whole number from 0 to "));
  BOOST_TEST(why(R"({"is":"turned_away","at":18446744073709551615,"bytes":1})"
                 "\n")
                 .starts_with("line 2: \"at\": expected a whole number"));
  BOOST_TEST(why(R"({"is":"turned_away","at":1.5,"bytes":1})"
                 "\n")
                 .starts_with("line 2: \"at\": expected a whole number"));
  BOOST_TEST(why(R"({"is":"ask","at":1,"id":1,"model":1,"shape":1,"rows":0})"
                 "\n")
                 .starts_with("line 2: \"rows\": expected a whole number from 1"));
}

BOOST_AUTO_TEST_CASE(a_line_is_not_read_beyond_its_bound) {
  BOOST_TEST(why(std::string(std::size_t{2} << 20, ' ')).starts_with("line 2: longer than"));
}

BOOST_AUTO_TEST_CASE(what_is_no_capture_of_this_format_is_refused) {
  for (const std::string text : {"", "{\"troupe_capture\":1", "{}\n"}) {
    std::istringstream from{text};
    BOOST_TEST(!reader{from}.next());
  }
  std::istringstream newer{R"({"troupe_capture":2})"
                           "\n"};
  BOOST_TEST(reader{newer}.next().error().text == "line 1: expected format 1, got 2");
}

BOOST_AUTO_TEST_SUITE_END()
