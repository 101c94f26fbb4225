#include "apps/ocr/pipeline/sheet.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::ocr;

namespace {

tensor floats(shape dims, const std::vector<float>& values) {
  return {dtype::float32, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

quad box(float x, float y, float width, float height) {
  return {point{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
}

snippet cut(const quad& from) {
  return {from,
          image(static_cast<int>(from[1].x - from[0].x), static_cast<int>(from[3].y - from[0].y)),
          0,
          {},
          {}};
}

sheet three_lines() {
  sheet made;
  made.view = make_page(image(400, 300));
  for (float y : {20.0f, 80.0f, 140.0f})
    made.snippets.push_back(cut(box(10, y, 200, 30)));
  return made;
}

std::vector<std::string> texts(const sheet& of, float min_score = 0.5f) {
  std::vector<text_line> lines;
  add_lines(of, 3, min_score, lines);
  std::vector<std::string> found;
  for (const auto& line : lines) {
    BOOST_TEST(line.image_index == 3);
    found.push_back(line.text);
  }
  return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(sheets)

BOOST_AUTO_TEST_CASE(boxes_of_a_map_become_snippets) {
  sheet one;
  one.view = make_page(image(320, 160));
  std::vector<float> map(320 * 160);
  for (std::size_t y = 60; y < 80; ++y)
    for (std::size_t x = 50; x < 250; ++x)
      map[y * 320 + x] = 0.9f;
  BOOST_REQUIRE(bool{cut_out(one, floats({1, 1, 160, 320}, map), {})});
  BOOST_REQUIRE(one.snippets.size() == 1);
  BOOST_TEST(one.snippets[0].pixels.width > 200);
  BOOST_TEST(
      (cut_out(one, floats({1, 160, 320}, map), {}).error().code == errc::failed_precondition));
}

BOOST_AUTO_TEST_CASE(a_sure_sheet_is_read_one_way_and_an_unsure_snippet_both) {
  std::vector sheets{three_lines()};
  std::vector<snippet*> group;
  for (auto& one : sheets[0].snippets)
    group.push_back(&one);
  BOOST_REQUIRE(
      bool{note_directions(group, floats({3, 2}, {0.99f, 0.01f, 0.5f, 0.5f, 0.98f, 0.02f}))});
  auto attempts = plan_attempts(sheets, 0.9f);
  BOOST_REQUIRE(attempts.size() == 4);
  BOOST_TEST(std::count_if(attempts.begin(), attempts.end(), [](auto& each) { return each.turn; })
             == 1);
  BOOST_TEST(bool{attempts[1].of == attempts[2].of});
}

BOOST_AUTO_TEST_CASE(attempts_are_sorted_by_width) {
  std::vector sheets{three_lines(), three_lines()};
  sheets[0].snippets[0] = cut(box(0, 0, 390, 10));
  sheets[1].snippets[2] = cut(box(0, 0, 300, 20));
  auto attempts = plan_attempts(sheets, 0.9f);
  BOOST_TEST(attempts.size() == 6u);
  BOOST_TEST(std::is_sorted(attempts.begin(), attempts.end(),
                            [](auto& left, auto& right) { return left.width < right.width; }));
  BOOST_TEST((draw(std::span(attempts).last(1)).dims == shape{1, 3, 48, 1920}));
}

BOOST_AUTO_TEST_CASE(the_better_reading_counts_and_turned_sheets_are_read_from_their_own_top) {
  auto one = three_lines();
  one.snippets[0].turned_reading = reading{"third", 0.9f};
  one.snippets[1].upright_reading = reading{"puoɔǝs", 0.4f};
  one.snippets[1].turned_reading = reading{"second", 0.8f};
  one.snippets[2].turned_reading = reading{"first", 0.9f};
  BOOST_TEST(texts(one) == (std::vector<std::string>{"first", "second", "third"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(empty_and_doubtful_lines_are_left_out) {
  auto one = three_lines();
  one.snippets[0].upright_reading = reading{"", 0};
  one.snippets[1].upright_reading = reading{"doubtful", 0.4f};
  one.snippets[2].upright_reading = reading{"certain", 0.6f};
  BOOST_TEST(texts(one) == (std::vector<std::string>{"certain"}), boost::test_tools::per_element());
  BOOST_TEST(texts(one, 0).size() == 2u);
}

BOOST_AUTO_TEST_CASE(answers_of_another_form_are_refused) {
  auto one = three_lines();
  std::vector<snippet*> group{&one.snippets[0]};
  BOOST_TEST(!note_directions(group, floats({2, 2}, {1, 0, 1, 0})));
  auto symbols = alphabet::parse("a").value();
  std::vector<attempt> attempts{{&one.snippets[0], false, 320}};
  BOOST_TEST(!note_readings(attempts, floats({2, 1, 3}, {1, 0, 0, 1, 0, 0}), symbols, {}));
  BOOST_TEST(!one.snippets[0].upright_reading.has_value());
}

BOOST_AUTO_TEST_CASE(lines_survive_the_way_through_an_answer) {
  const std::vector<text_line> lines{{"naïve text", box(1, 2, 30, 40), 0.75f, 0},
                                     {"", box(0, 0, 5, 5), 1, 7}};
  auto outputs = to_outputs(lines).value();
  BOOST_TEST(outputs.size() == 4u);
  auto back = from_outputs(outputs).value();
  BOOST_REQUIRE(back.size() == 2);
  BOOST_TEST(back[0].text == "naïve text");
  BOOST_TEST((back[0].box == lines[0].box));
  BOOST_TEST(back[0].score == 0.75f);
  BOOST_TEST(back[1].image_index == 7);
  BOOST_TEST(from_outputs(to_outputs({}).value()).value().empty());
}

BOOST_AUTO_TEST_CASE(only_wanted_outputs_are_given_and_missing_ones_are_told) {
  const std::vector<protocol::requested_output> wanted{{"scores", {}}, {"text", {}}};
  auto outputs = to_outputs({}, wanted).value();
  BOOST_TEST(outputs.size() == 2u);
  auto back = from_outputs(outputs);
  BOOST_REQUIRE(!back);
  BOOST_TEST(back.error().text.find("boxes") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
