#include "apps/ocr/program/exchange.hpp"
#include "apps/ocr/program/report.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

using namespace troupe;
using namespace troupe::ocr;

namespace {

page_text two_lines() {
  quad box{point{1, 2}, {3, 2}, {3, 4}, {1, 4}};
  return {{{"Tea \"hot\"", box, 0.5f, 0}, {"Käse", box, 1, 0}},
          {{"decode_ms", 2.6}, {"recognise_ms", 40.2}, {"other_ms", 1}}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(reports)

BOOST_AUTO_TEST_CASE(text_is_one_line_per_line) {
  BOOST_TEST(as_text(two_lines()) == "Tea \"hot\"\nKäse\n");
  BOOST_TEST(as_text({}).empty());
}

BOOST_AUTO_TEST_CASE(timings_are_told_in_the_order_of_the_steps) {
  BOOST_TEST(timing_line(two_lines()) == "decode 3 ms, recognise 40 ms");
}

BOOST_AUTO_TEST_CASE(json_holds_lines_or_the_error_of_each_file) {
  std::vector<file_report> reports;
  reports.push_back({"a.png", two_lines()});
  reports.push_back({"b.png", fail(errc::not_found, "b.png: cannot be opened")});
  reports.push_back({"\xff.png", page_text{}}); // a file's name need not be UTF-8
  auto images = nlohmann::json::parse(as_json(reports))["images"];
  BOOST_REQUIRE(images.size() == 3);
  BOOST_TEST(images[0]["file"] == "a.png");
  BOOST_TEST(images[0]["lines"][0]["text"] == "Tea \"hot\"");
  BOOST_TEST(images[0]["lines"][1]["box"][2][1] == 4.0);
  BOOST_TEST(images[0]["timings_ms"]["decode_ms"] == 2.6);
  BOOST_TEST(images[1]["error"] == "b.png: cannot be opened");
  BOOST_TEST(!images[1].contains("lines"));
  BOOST_TEST(images[2]["lines"].empty());
}

BOOST_AUTO_TEST_CASE(a_request_carries_the_file_as_one_element) {
  auto request = request_for("ocr", std::string("\0PNG", 4)).value();
  BOOST_TEST(request.model_name == "ocr");
  auto elements = unpack_strings(request.inputs.at(0).value).value();
  BOOST_REQUIRE(elements.size() == 1);
  BOOST_TEST(elements[0] == std::string_view("\0PNG", 4));
}

BOOST_AUTO_TEST_CASE(only_numbers_of_steps_are_taken_for_timings) {
  protocol::inference_response answer;
  answer.outputs = to_outputs({}).value();
  answer.parameters = {{"decode_ms", 1.5}, {"note", std::string("x")}, {"rows", std::int64_t{3}}};
  auto read = text_of(answer).value();
  BOOST_TEST(read.timings_ms.size() == 1u);
  BOOST_TEST(read.timings_ms["decode_ms"] == 1.5);
  BOOST_TEST(!text_of(protocol::inference_response{}));
}

BOOST_AUTO_TEST_SUITE_END()
