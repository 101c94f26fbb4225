#include "apps/ocr/vision/direction.hpp"
#include "apps/ocr/vision/lines.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <random>

using namespace troupe::ocr;

namespace {

using order = std::vector<std::vector<std::size_t>>;

quad box(float x, float y, float width, float height) {
  return {point{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
}

quad turned(const quad& of, float degrees) {
  auto angle = degrees * 3.14159265f / 180;
  quad result;
  for (std::size_t i = 0; i < 4; ++i)
    result[i] = {of[i].x * std::cos(angle) - of[i].y * std::sin(angle) + 300,
                 of[i].x * std::sin(angle) + of[i].y * std::cos(angle) + 300};
  return result;
}

void check_order(const std::vector<quad>& boxes, const order& expected, bool upside_down = false) {
  auto found = lines_of(boxes, upside_down);
  BOOST_REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(found[i] == expected[i], boost::test_tools::per_element());
}

// Three lines, the middle one of two parts.
const std::vector<quad> page{box(200, 52, 150, 20), box(20, 10, 300, 20), box(20, 90, 100, 20),
                             box(20, 48, 150, 22)};

} // namespace

BOOST_AUTO_TEST_SUITE(lines)

BOOST_AUTO_TEST_CASE(no_boxes_are_no_lines) {
  check_order({}, {});
}

BOOST_AUTO_TEST_CASE(lines_go_from_the_top_and_within_a_line_from_the_left) {
  check_order(page, {{1}, {3, 0}, {2}});
}

BOOST_AUTO_TEST_CASE(a_page_askew_is_read_along_its_own_lines) {
  for (float degrees : {-12.0f, -5.0f, 4.0f, 15.0f}) {
    std::vector<quad> askew;
    for (const auto& each : page)
      askew.push_back(turned(each, degrees));
    check_order(askew, {{1}, {3, 0}, {2}});
  }
}

BOOST_AUTO_TEST_CASE(a_page_upside_down_is_read_from_its_own_top) {
  check_order(page, {{2}, {0, 3}, {1}}, true);
}

BOOST_AUTO_TEST_CASE(every_box_is_named_once_however_they_lie) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(0, 500);
  for (int round = 0; round < 50; ++round) {
    std::vector<quad> boxes;
    for (int i = 0; i < 30; ++i)
      boxes.push_back(turned(box(place(random), place(random), place(random), place(random) / 10),
                             place(random)));
    std::vector<std::size_t> named;
    for (const auto& line : lines_of(boxes))
      named.insert(named.end(), line.begin(), line.end());
    std::sort(named.begin(), named.end());
    for (std::size_t i = 0; i < named.size(); ++i)
      BOOST_TEST(named[i] == i);
    BOOST_TEST(named.size() == boxes.size());
  }
}

BOOST_AUTO_TEST_CASE(words_of_one_line_are_joined) {
  auto joined = join_neighbours(std::vector{box(120, 10, 80, 20), box(10, 11, 100, 20)});
  BOOST_REQUIRE(joined.size() == 1);
  const auto& whole = joined.front();
  BOOST_TEST(std::abs(whole[0].x - 10) < 1.0f);
  BOOST_TEST(std::abs(whole[2].x - 200) < 1.0f);
  BOOST_TEST(std::abs(whole[2].y - 31) < 1.5f);
}

BOOST_AUTO_TEST_CASE(cells_of_a_table_and_lines_below_each_other_stay_apart) {
  BOOST_TEST(join_neighbours(std::vector{box(10, 10, 100, 20), box(140, 10, 80, 20)}).size() == 2);
  BOOST_TEST(join_neighbours(std::vector{box(10, 10, 100, 20), box(10, 32, 100, 20)}).size() == 2);
}

BOOST_AUTO_TEST_CASE(boxes_of_unlike_height_or_level_stay_apart) {
  BOOST_TEST(join_neighbours(std::vector{box(10, 10, 100, 40), box(115, 25, 80, 16)}).size() == 2);
  BOOST_TEST(join_neighbours(std::vector{box(10, 10, 100, 20), box(115, 18, 80, 20)}).size() == 2);
}

BOOST_AUTO_TEST_CASE(words_of_a_tilted_line_are_joined) {
  std::vector words{turned(box(10, 10, 100, 20), 10), turned(box(118, 10, 90, 20), 10),
                    turned(box(214, 10, 60, 20), 10)};
  auto joined = join_neighbours(words);
  BOOST_REQUIRE(joined.size() == 1);
  BOOST_TEST(std::hypot(joined[0][1].x - joined[0][0].x, joined[0][1].y - joined[0][0].y) > 260);
}

BOOST_AUTO_TEST_CASE(sure_guesses_that_agree_are_settled) {
  auto facings = settle_directions(std::vector<direction_guess>{{0.01f, 100}, {0.05f, 50}}, 0.9f);
  BOOST_TEST((facings == std::vector{facing::upright, facing::upright}));
  facings = settle_directions(std::vector<direction_guess>{{0.99f, 100}, {0.95f, 50}}, 0.9f);
  BOOST_TEST((facings == std::vector{facing::upside_down, facing::upside_down}));
}

BOOST_AUTO_TEST_CASE(what_is_vague_or_against_the_majority_is_unsure) {
  auto facings = settle_directions(
      std::vector<direction_guess>{{0.99f, 300}, {0.6f, 200}, {0.01f, 40}, {0.98f, 100}}, 0.9f);
  BOOST_TEST(
      (facings
       == std::vector{facing::upside_down, facing::unsure, facing::unsure, facing::upside_down}));
  BOOST_TEST(settle_directions({}, 0.9f).empty());
}

BOOST_AUTO_TEST_SUITE_END()
