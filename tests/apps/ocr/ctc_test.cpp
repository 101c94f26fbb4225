#include "apps/ocr/text/ctc.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::ocr;

namespace {

// Classes: blank, a, b, é, space.
const alphabet letters = alphabet::parse("a\nb\né\n").value();

constexpr std::size_t blank = 0, a = 1, b = 2, accented = 3, space = 4;

struct step {
  std::size_t best;
  float probability = 0.8f;
  float space_probability = 0;
};

std::vector<float> rows(const std::vector<step>& steps) {
  std::vector<float> values(steps.size() * letters.classes());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    values[i * letters.classes() + space] = steps[i].space_probability;
    values[i * letters.classes() + steps[i].best] = steps[i].probability;
  }
  return values;
}

std::string text_of(const std::vector<step>& steps, const reading_options& options = {}) {
  return decode_steps(rows(steps), letters, options).text;
}

tensor output(shape dims, const std::vector<float>& values) {
  return {dtype::float32, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

} // namespace

BOOST_AUTO_TEST_SUITE(ctc)

BOOST_AUTO_TEST_CASE(an_alphabet_has_a_blank_before_and_a_space_behind_its_characters) {
  BOOST_TEST(letters.classes() == 5u);
  BOOST_TEST(letters.symbol(blank).empty());
  BOOST_TEST(letters.symbol(accented) == "é");
  BOOST_TEST(letters.symbol(space) == " ");
  BOOST_TEST(alphabet::parse("a\r\nb").value().symbol(1) == "a");
  BOOST_TEST((alphabet::parse("").error().code == errc::failed_precondition));
}

BOOST_AUTO_TEST_CASE(repeats_merge_unless_a_blank_parts_them) {
  BOOST_TEST(text_of({{a}, {a}, {b}}) == "ab");
  BOOST_TEST(text_of({{a}, {blank}, {a}, {b}, {b}}) == "aab");
  BOOST_TEST(text_of({{blank}, {accented}, {blank}}) == "é");
}

BOOST_AUTO_TEST_CASE(blanks_alone_are_an_empty_text_without_confidence) {
  auto read = decode_steps(rows({{blank}, {blank}}), letters);
  BOOST_TEST(read.text.empty());
  BOOST_TEST(read.score == 0.0f);
  BOOST_TEST(decode_steps({}, letters).text.empty());
}

BOOST_AUTO_TEST_CASE(the_confidence_is_the_mean_over_the_characters_kept) {
  auto read = decode_steps(rows({{a, 0.6f}, {a, 0.9f}, {blank, 0.3f}, {b, 0.8f}}), letters);
  BOOST_TEST(read.score == 0.7f, boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(a_space_that_was_likely_in_between_is_added) {
  BOOST_TEST(text_of({{a}, {blank, 0.8f, 0.2f}, {b}}) == "a b");
  BOOST_TEST(text_of({{a}, {blank, 0.8f, 0.2f}, {blank}, {b}}) == "a b");
  BOOST_TEST(text_of({{a}, {blank, 0.8f, 0.005f}, {b}}) == "ab");
  BOOST_TEST(text_of({{a}, {blank, 0.8f, 0.2f}, {b}}, {.min_space = 2}) == "ab");
}

BOOST_AUTO_TEST_CASE(a_space_is_never_doubled_and_never_at_an_end) {
  BOOST_TEST(text_of({{a}, {blank, 0.8f, 0.2f}, {space}, {blank, 0.8f, 0.2f}, {b}}) == "a b");
  BOOST_TEST(text_of({{blank, 0.8f, 0.2f}, {a}, {blank, 0.8f, 0.2f}}) == "a");
  BOOST_TEST(text_of({{space}, {a}, {space}}) == "a");
  BOOST_TEST(text_of({{space}}).empty());
}

BOOST_AUTO_TEST_CASE(rows_of_a_batch_are_read_apart) {
  auto values = rows({{a}, {b}, {b}, {blank}});
  auto read = decode_rows(output({2, 2, 5}, values), letters).value();
  BOOST_REQUIRE(read.size() == 2);
  BOOST_TEST(read[0].text == "ab");
  BOOST_TEST(read[1].text == "b");
}

BOOST_AUTO_TEST_CASE(an_output_of_another_form_is_refused) {
  auto refused = decode_rows(output({1, 2, 4}, std::vector<float>(8)), letters);
  BOOST_TEST((refused.error().code == errc::failed_precondition));
  BOOST_TEST(refused.error().text.find("FP32 [rows, steps, 5] for 3 characters, got FP32 [1,2,4]")
                 != std::string::npos,
             refused.error().text);
  BOOST_TEST(!decode_rows(output({2, 5}, std::vector<float>(10)), letters));
}

BOOST_AUTO_TEST_SUITE_END()
