#include "runtime/repository/version_labels.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

using namespace troupe;
using namespace troupe::placement;

namespace {

const std::array<std::string, 3> served{"9", "10", "2"};

version_chooser chooser(version_rules rules) {
  return {{served.begin(), served.end()}, std::move(rules)};
}

std::string refusal(const std::string& labels, const std::string& split) {
  repository::model_folder of{"m", "/nowhere", {}, {{"3", "/"}, {"4", "/"}}};
  if (!labels.empty())
    of.config.parameters["troupe.labels"] = labels;
  if (!split.empty())
    of.config.parameters["troupe.split"] = split;
  const auto made = repository::version_rules_of(of);
  return made ? "accepted" : made.error().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(versions_of_a_model)

BOOST_AUTO_TEST_CASE(without_a_version_asked_for_the_highest_number_serves) {
  BOOST_TEST(*choose_version(served, {}, "") == 1u);
  BOOST_TEST(*choose_version(served, {}, "2") == 2u);
  BOOST_TEST(!choose_version(served, {}, "3").has_value());
  BOOST_TEST(!choose_version({}, {}, "").has_value());
}

BOOST_AUTO_TEST_CASE(a_label_names_its_version_and_the_largest_share_stands_for_the_model) {
  const version_rules rules{.labels = {{"old", "2"}, {"gone", "7"}},
                            .split = {{"2", 90}, {"10", 10}}};
  BOOST_TEST(*choose_version(served, rules, "old") == 2u);
  BOOST_TEST(!choose_version(served, rules, "gone").has_value());
  BOOST_TEST(*choose_version(served, rules, "") == 2u);
}

BOOST_AUTO_TEST_CASE(shares_are_kept_in_every_run_of_requests) {
  auto turns = chooser({.labels = {}, .split = {{"9", 5}, {"10", 1}, {"2", 0}}});
  std::vector<std::size_t> chosen;
  for (int i = 0; i < 60; ++i)
    chosen.push_back(*turns.next(""));
  for (std::size_t from = 0; from + 6 <= chosen.size(); ++from)
    BOOST_TEST(std::count(chosen.begin() + static_cast<std::ptrdiff_t>(from),
                          chosen.begin() + static_cast<std::ptrdiff_t>(from) + 6, 1u)
               == 1);
  BOOST_TEST(std::count(chosen.begin(), chosen.end(), 2u) == 0);
}

BOOST_AUTO_TEST_CASE(those_who_ask_take_no_turn) {
  auto turns = chooser({.labels = {}, .split = {{"9", 1}, {"10", 1}}});
  BOOST_TEST(*turns.next("") == 0u);
  BOOST_TEST(*turns.next("9") == 0u);
  BOOST_TEST(*turns.next("") == 1u);
}

BOOST_AUTO_TEST_CASE(labels_and_shares_are_checked_against_what_is_served) {
  BOOST_TEST(refusal("stable=3, canary=4", "stable=95, canary=5") == "accepted");
  BOOST_TEST(refusal("", "3=1, 4=0") == "accepted");
  BOOST_TEST(refusal("stable=5", "")
             == "model m: troupe.labels: \"stable\" is version 5, which the version policy does "
                "not choose");
  BOOST_TEST(refusal("7=3", "").find("that is no number, got \"7\"") != std::string::npos);
  BOOST_TEST(refusal("a b=3", "").find("expected a name of letters") != std::string::npos);
  BOOST_TEST(refusal("stable", "").find("expected name=value") != std::string::npos);
  BOOST_TEST(refusal("a=3, a=4", "").find("\"a\" is given twice") != std::string::npos);
  BOOST_TEST(refusal("", "beta=1").find("\"beta\" is no label") != std::string::npos);
  BOOST_TEST(refusal("a=3", "a=1, 3=1").find("version 3 is given twice") != std::string::npos);
  BOOST_TEST(refusal("", "3=0").find("nobody has a share") != std::string::npos);
  BOOST_TEST(refusal("", "3=-1").find("a share from 0") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
