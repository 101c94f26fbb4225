#include "tests/kernels/op_case.hpp"
#include "tests/kernels/value_case.hpp"

#include <limits>

using namespace troupe::tests;
using troupe::attribute_map;
using troupe::dtype;

namespace {

using longs = std::vector<std::int64_t>;
using reals = std::vector<float>;
using texts_of = std::vector<std::string>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// One comparison of feature 1 with 2: 10 where it holds, 20 where not.
op_case stump(const std::string& mode, std::int64_t missing = 0) {
  op_case made{"TreeEnsembleRegressor", 3};
  made.in_domain("ai.onnx.ml")
      .attribute("n_targets", std::int64_t{1})
      .attribute("nodes_treeids", longs{0, 0, 0})
      .attribute("nodes_nodeids", longs{0, 1, 2})
      .attribute("nodes_featureids", longs{1, 0, 0})
      .attribute("nodes_modes", texts_of{mode, "LEAF", "LEAF"})
      .attribute("nodes_values", reals{2, 0, 0})
      .attribute("nodes_truenodeids", longs{1, 0, 0})
      .attribute("nodes_falsenodeids", longs{2, 0, 0})
      .attribute("nodes_missing_value_tracks_true", longs{missing, 0, 0})
      .attribute("target_treeids", longs{0, 0})
      .attribute("target_nodeids", longs{1, 2})
      .attribute("target_ids", longs{0, 0})
      .attribute("target_weights", reals{10, 20});
  return made;
}

void check_stump(const std::string& mode, std::int64_t missing, const reals& expected) {
  BOOST_TEST_CONTEXT(mode << ", missing " << missing)
  stump(mode, missing)
      .input<float>({4, 2}, {0, 1, 0, 2, 0, 3, 0, not_a_number})
      .check<float>({4, 1}, expected);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_node_compares_in_each_mode_and_sends_what_is_missing_where_it_says) {
  check_stump("BRANCH_LEQ", 0, {10, 10, 20, 20});
  check_stump("BRANCH_LEQ", 1, {10, 10, 20, 10});
  check_stump("BRANCH_LT", 0, {10, 20, 20, 20});
  check_stump("BRANCH_LT", 1, {10, 20, 20, 10});
  check_stump("BRANCH_GTE", 0, {20, 10, 10, 20});
  check_stump("BRANCH_GTE", 1, {20, 10, 10, 10});
  check_stump("BRANCH_GT", 0, {20, 20, 10, 20});
  check_stump("BRANCH_GT", 1, {20, 20, 10, 10});
  check_stump("BRANCH_EQ", 0, {20, 10, 20, 20});
  check_stump("BRANCH_EQ", 1, {20, 10, 20, 10});
  check_stump("BRANCH_NEQ", 0, {10, 20, 10, 10});
}

BOOST_AUTO_TEST_CASE(trees_take_integers_and_doubles) {
  stump("BRANCH_LEQ").input<std::int64_t>({2, 2}, {9, 2, 9, 3}).check<float>({2, 1}, {10, 20});
  stump("BRANCH_LT").input<double>({2, 2}, {9, 1.5, 9, 2}).check<float>({2, 1}, {10, 20});
  stump("BRANCH_LT").input<float>({0, 2}, {}).check<float>({0, 1}, {});
}

BOOST_AUTO_TEST_CASE(trees_that_make_no_sense_are_refused) {
  const auto refused = [](op_case tree) {
    return tree.input<float>({1, 2}, {0, 0}).refusal(dtype::float32, {1, 1});
  };
  BOOST_TEST(refused(stump("BRANCH_LEQ").attribute("nodes_truenodeids", longs{7, 0, 0}))
                 .find("which are not there")
             != std::string::npos);
  BOOST_TEST(refused(stump("BRANCH_LEQ").attribute("nodes_featureids", longs{2, 0, 0}))
                 .find("feature 2 of 2")
             != std::string::npos);
  BOOST_TEST(refused(stump("BRANCH_LEQ").attribute("target_ids", longs{0, 1})).find("target 1 of 1")
             != std::string::npos);
  BOOST_TEST(
      refused(stump("BRANCH_LEQ").attribute("nodes_values", reals{2})).find("differ in length")
      != std::string::npos);
  // A root that its own branch leads back to is a root no more; beside it stands a tree of one
  // leaf.
  auto loop = stump("BRANCH_LEQ");
  loop.attribute("nodes_modes", texts_of{"BRANCH_LEQ", "BRANCH_LEQ", "LEAF"})
      .attribute("nodes_truenodeids", longs{1, 1, 0})
      .attribute("nodes_falsenodeids", longs{2, 2, 0});
  BOOST_TEST(refused(std::move(loop)).find("leads back to itself") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(votes_are_aggregated_and_transformed) {
  const auto two = [](const std::string& how) {
    op_case made{"TreeEnsembleRegressor", 3};
    made.in_domain("ai.onnx.ml")
        .attribute("n_targets", std::int64_t{2})
        .attribute("aggregate_function", how)
        .attribute("base_values", reals{100, 200})
        .attribute("nodes_treeids", longs{0, 1})
        .attribute("nodes_nodeids", longs{0, 0})
        .attribute("nodes_featureids", longs{0, 0})
        .attribute("nodes_modes", texts_of{"LEAF", "LEAF"})
        .attribute("nodes_values", reals{0, 0})
        .attribute("nodes_truenodeids", longs{0, 0})
        .attribute("nodes_falsenodeids", longs{0, 0})
        .attribute("target_treeids", longs{0, 1})
        .attribute("target_nodeids", longs{0, 0})
        .attribute("target_ids", longs{0, 0})
        .attribute("target_weights", reals{1, 4})
        .input<float>({1, 1}, {0});
    return made;
  };
  two("SUM").check<float>({1, 2}, {105, 200});
  two("AVERAGE").check<float>({1, 2}, {102.5F, 200});
  two("MIN").check<float>({1, 2}, {101, 200});
  two("MAX").check<float>({1, 2}, {104, 200});
}

BOOST_AUTO_TEST_CASE(features_are_scaled_normalised_imputed_and_cut) {
  op_case{"Scaler", 1}
      .in_domain("ai.onnx.ml")
      .attribute("offset", reals{1, 2})
      .attribute("scale", reals{2, 0.5F})
      .input<std::int64_t>({2, 2}, {1, 2, 3, 4})
      .check<float>({2, 2}, {0, 0, 4, 1});
  op_case{"Normalizer", 1}
      .in_domain("ai.onnx.ml")
      .attribute("norm", std::string{"L1"})
      .input<float>({2, 2}, {1, -3, 0, 0})
      .check<float>({2, 2}, {0.25F, -0.75F, 0, 0});
  op_case{"Imputer", 1}
      .in_domain("ai.onnx.ml")
      .attribute("imputed_value_floats", reals{7, 8})
      .attribute("replaced_value_float", not_a_number)
      .input<float>({2, 2}, {not_a_number, 1, 2, not_a_number})
      .check<float>({2, 2}, {7, 1, 2, 8});
  op_case{"Binarizer", 1}
      .in_domain("ai.onnx.ml")
      .attribute("threshold", 1.5F)
      .input<float>({3}, {1, 1.5F, 2})
      .check<float>({3}, {0, 0, 1});
  op_case{"OneHotEncoder", 1}
      .in_domain("ai.onnx.ml")
      .attribute("cats_int64s", longs{3, 5})
      .input<float>({3}, {5, 4, 3.5F})
      .check<float>({3, 2}, {0, 1, 0, 0, 1, 0});
  op_case{"ArrayFeatureExtractor", 1}
      .in_domain("ai.onnx.ml")
      .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<std::int64_t>({2}, {2, 0})
      .check<float>({2, 2}, {3, 1, 6, 4});
}

BOOST_AUTO_TEST_CASE(an_index_beyond_the_features_fails_at_launch) {
  op_case beyond{"ArrayFeatureExtractor", 1};
  beyond.in_domain("ai.onnx.ml").input<float>({1, 3}, {1, 2, 3}).input<std::int64_t>({1}, {3});
  BOOST_TEST(beyond.launch_error(dtype::float32, {1, 1}) == "index in [0, 3) expected, 3 found");
}

BOOST_AUTO_TEST_CASE(labels_are_looked_up_by_text_and_by_number) {
  value_case encoder{.op_type = "LabelEncoder", .version = 2, .domain = "ai.onnx.ml"};
  encoder.attributes.set("keys_strings", texts_of{"ash", "birch", "ash"});
  encoder.attributes.set("values_int64s", longs{5, 6, 7});
  encoder.inputs = {texts({2, 2}, {"birch", "ash", "", "Ash"})};
  const auto found = encoder.run();
  BOOST_REQUIRE(found.has_value());
  check_equal((*found)[0], integers({2, 2}, {6, 7, -1, -1}));

  value_case back{.op_type = "LabelEncoder", .version = 4, .domain = "ai.onnx.ml"};
  back.attributes.set("keys_floats", reals{not_a_number, 0});
  back.attributes.set("values_strings", texts_of{"missing", "none"});
  back.inputs = {floats({3}, {-0.0F, not_a_number, 1})};
  const auto labels = back.run();
  BOOST_REQUIRE(labels.has_value());
  check_equal((*labels)[0], texts({3}, {"none", "missing", "_Unused"}));

  back.inputs = {integers({1}, {0})};
  BOOST_TEST(back.run().error().text
             == "an input of FP32, the type of the keys, expected, INT64 found");
}

BOOST_AUTO_TEST_CASE(categories_of_texts_become_ones) {
  value_case encoder{.op_type = "OneHotEncoder", .version = 1, .domain = "ai.onnx.ml"};
  encoder.attributes.set("cats_strings", texts_of{"x", "yy"});
  encoder.inputs = {texts({3}, {"yy", "z", "x"})};
  const auto found = encoder.run();
  BOOST_REQUIRE(found.has_value());
  check_equal((*found)[0], floats({3, 2}, {0, 1, 0, 0, 1, 0}));
  encoder.attributes.set("zeros", std::int64_t{0});
  BOOST_TEST(encoder.run().error().text == "element 1 is none of the 2 categories");
}
