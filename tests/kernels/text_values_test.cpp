#include "tests/kernels/value_case.hpp"

#include <limits>

namespace troupe::tests {

namespace {

attribute_map with(std::initializer_list<std::pair<std::string, attribute>> attributes) {
  attribute_map made;
  for (const auto& [name, value] : attributes)
    made.set(name, value);
  return made;
}

std::vector<datum> made_by(const value_case& of) {
  auto made = of.run();
  BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().text));
  return *std::move(made);
}

} // namespace

BOOST_AUTO_TEST_SUITE(text_values)

BOOST_AUTO_TEST_CASE(strings_join_and_compare_where_they_broadcast) {
  const auto pair = std::vector<datum>{texts({2, 1}, {"a", "b"}), texts({2}, {"x", "a"})};
  check_equal(made_by({"StringConcat", 20, {}, pair})[0], texts({2, 2}, {"ax", "aa", "bx", "ba"}));
  check_equal(made_by({"Equal", 19, {}, pair})[0], truths({2, 2}, {0, 1, 0, 0}));
  const auto unequal = std::vector<datum>{texts({2}, {"a", "b"}), texts({3}, {"x", "y", "z"})};
  BOOST_TEST((!value_case{"StringConcat", 20, {}, unequal}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(a_split_pads_short_rows_and_counts_their_parts) {
  const auto by_comma = made_by(
      {"StringSplit", 20, with({{"delimiter", std::string{","}}}), {texts({2}, {"a,,b", "c"})}, 2});
  check_equal(by_comma[0], texts({2, 3}, {"a", "", "b", "c", "", ""}));
  check_equal(by_comma[1], integers({2}, {3, 1}));
  const auto words = made_by({"StringSplit",
                              20,
                              with({{"maxsplit", std::int64_t{1}}}),
                              {texts({2}, {"  one two  three", ""})},
                              2});
  check_equal(words[0], texts({2, 2}, {"one", "two  three", "", ""}));
  check_equal(words[1], integers({2}, {2, 0}));
}

BOOST_AUTO_TEST_CASE(normalizing_drops_stopwords_and_changes_case_beyond_ascii) {
  const auto words = texts({3}, {"Äpfel", "AND", "pears"});
  const std::vector<std::string> stop{"and"};
  const auto lower = with({{"case_change_action", std::string{"LOWER"}}, {"stopwords", stop}});
  check_equal(made_by({"StringNormalizer", 10, lower, {words}})[0], texts({2}, {"äpfel", "pears"}));
  const auto exact = with({{"is_case_sensitive", std::int64_t{1}}, {"stopwords", stop}});
  check_equal(made_by({"StringNormalizer", 10, exact, {words}})[0], words);
  check_equal(made_by({"StringNormalizer", 10, lower, {texts({1, 1}, {"And"})}})[0],
              texts({1, 1}, {""}));
}

BOOST_AUTO_TEST_CASE(a_pattern_matches_the_whole_string_or_not) {
  const auto pattern = with({{"pattern", std::string{"[a-z]+@x\\.org"}}});
  check_equal(made_by({"RegexFullMatch", 20, pattern, {texts({2}, {"me@x.org", "me@x.org "})}})[0],
              truths({2}, {1, 0}));
  const auto broken = with({{"pattern", std::string{"("}}});
  BOOST_TEST((!value_case{"RegexFullMatch", 20, broken, {texts({1}, {""})}}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(numbers_are_written_so_that_they_read_the_same) {
  const auto infinity = std::numeric_limits<float>::infinity();
  const auto numbers = floats({4}, {0.1F, 2, -infinity, 1e20F});
  const auto written = made_by({"Cast", 19, {}, {numbers}, 1, {dtype::string}});
  check_equal(written[0], texts({4}, {"0.1", "2.0", "-INF", "1e+20"}));
  check_equal(made_by({"Cast", 19, {}, written, 1, {dtype::float32}})[0], numbers);
  const auto given = texts({2}, {" +7", "-12"});
  check_equal(made_by({"Cast", 19, {}, {given}, 1, {dtype::int64}})[0], integers({2}, {7, -12}));
  for (const char* text : {"", "seven", "1x", "99999999999999999999"})
    BOOST_TEST((!value_case{"Cast", 19, {}, {texts({1}, {text})}, 1, {dtype::int64}}.run()));
}

BOOST_AUTO_TEST_CASE(n_grams_of_a_pool_are_counted_with_skips) {
  auto pool = with({{"mode", std::string{"TF"}},
                    {"min_gram_length", std::int64_t{1}},
                    {"max_gram_length", std::int64_t{2}},
                    {"max_skip_count", std::int64_t{1}},
                    {"ngram_counts", std::vector<std::int64_t>{0, 2}},
                    {"ngram_indexes", std::vector<std::int64_t>{0, 1, 2}},
                    {"pool_int64s", std::vector<std::int64_t>{5, 6, 5, 6}}});
  const auto row = integers({4}, {5, 6, 7, 5});
  check_equal(made_by({"TfIdfVectorizer", 9, pool, {row}})[0], floats({3}, {2, 1, 1}));
  pool.set("mode", std::string{"IDF"});
  pool.set("weights", std::vector<float>{0.5F, 2, 3});
  check_equal(made_by({"TfIdfVectorizer", 9, pool, {row}})[0], floats({3}, {0.5F, 2, 3}));
  pool.set("ngram_counts", std::vector<std::int64_t>{0, 9});
  BOOST_TEST((!value_case{"TfIdfVectorizer", 9, pool, {row}}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(of_boxes_that_cover_each_other_the_best_stays) {
  const auto boxes = floats({1, 3, 4}, {0, 0, 1, 1, 1, 1.1F, 0, 0.1F, 0, 10, 1, 11});
  const auto scores = floats({1, 1, 3}, {0.9F, 0.75F, 0.6F});
  const auto most = integers({1}, {3});
  const auto chosen = made_by(
      {"NonMaxSuppression", 11, {}, {boxes, scores, most, floats({1}, {0.5F}), floats({1}, {0})}});
  check_equal(chosen[0], integers({2, 3}, {0, 0, 0, 0, 0, 2}));
  const auto strict = made_by({"NonMaxSuppression",
                               11,
                               {},
                               {boxes, scores, most, floats({1}, {0.5F}), floats({1}, {0.8F})}});
  check_equal(strict[0], integers({1, 3}, {0, 0, 0}));
  check_equal(made_by({"NonMaxSuppression", 11, {}, {boxes, scores}})[0], integers({0, 3}, {}));
}

BOOST_AUTO_TEST_CASE(unique_elements_come_with_their_places_and_counts) {
  const auto from = floats({6}, {2, 1, 1, 3, 4, 3});
  const auto sorted = made_by({"Unique", 11, {}, {from}, 4});
  check_equal(sorted[0], floats({4}, {1, 2, 3, 4}));
  check_equal(sorted[1], integers({4}, {1, 0, 3, 4}));
  check_equal(sorted[2], integers({6}, {1, 0, 0, 2, 3, 2}));
  check_equal(sorted[3], integers({4}, {2, 1, 2, 1}));
  const auto by_first = made_by({"Unique", 11, with({{"sorted", std::int64_t{0}}}), {from}, 4});
  check_equal(by_first[0], floats({4}, {2, 1, 3, 4}));
  check_equal(by_first[2], integers({6}, {0, 1, 1, 2, 3, 2}));
  const auto rows = made_by({"Unique",
                             11,
                             with({{"axis", std::int64_t{0}}}),
                             {texts({3, 2}, {"b", "a", "a", "c", "b", "a"})}});
  check_equal(rows[0], texts({2, 2}, {"a", "c", "b", "a"}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::tests
