#include "runtime/repository/ensemble.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <fstream>

using namespace troupe;
using namespace troupe::repository;
namespace fs = std::filesystem;

namespace {

const std::string twice = R"(
platform: "ensemble"
max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] }, { name: "MAY" data_type: TYPE_BOOL optional: true } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]
ensemble_scheduling {
  step [
    { model_name: "m" model_version: -1 input_map { key: "x" value: "IN" }
      output_map { key: "y" value: "mid" } },
    { model_name: "m" model_version: 3 input_map { key: "x" value: "mid" }
      output_map { key: "y" value: "OUT" } }
  ]
}
)";

model_folder folder_of(const std::string& text) {
  auto config = parse_model_config(text, "config.pbtxt");
  BOOST_REQUIRE_MESSAGE(config, (config ? "" : config.error().text));
  return {"e", "/nowhere", std::move(*config), {{"1", "/nowhere/1"}}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(an_ensemble)

BOOST_AUTO_TEST_CASE(is_a_pipeline_of_its_steps) {
  const auto made = ensemble_of(folder_of(twice));
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  BOOST_TEST(made->platform == "ensemble");
  BOOST_TEST(made->origin == "model e");
  BOOST_TEST(made->allow_unused);
  BOOST_REQUIRE(made->steps.size() == 2u);
  BOOST_TEST(made->steps[0].name == "m");
  BOOST_TEST(made->steps[0].version.empty());
  BOOST_TEST(made->steps[1].name == "m#2");
  BOOST_TEST(made->steps[1].version == "3");
  BOOST_TEST(made->steps[1].inputs.at(0).port == "x");
  BOOST_TEST(made->steps[1].inputs.at(0).tensor == "mid");
  BOOST_TEST(*made->inputs.at(0).dims == (std::vector<std::int64_t>{-1, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(!made->inputs[0].optional);
  BOOST_TEST(made->inputs.at(1).optional);
  BOOST_TEST((made->inputs[1].type == dtype::boolean));
  BOOST_TEST(made->outputs.at(0).tensor == "OUT");
}

BOOST_AUTO_TEST_CASE(without_a_batch_axis_has_its_dims_as_they_are) {
  auto folder = folder_of(twice);
  folder.config.max_batch_size.reset();
  const auto made = ensemble_of(folder);
  BOOST_REQUIRE(made);
  BOOST_TEST(*made->inputs.at(0).dims == (std::vector<std::int64_t>{4}),
             boost::test_tools::per_element());
  BOOST_TEST(!made->inputs.at(1).dims.has_value());
}

BOOST_AUTO_TEST_CASE(is_bounded_by_parameters) {
  auto folder = folder_of(twice);
  folder.config.parameters = {{"troupe.max_active", "3"}, {"other", "x"}};
  BOOST_TEST(ensemble_of(folder)->max_active == 3u);
  folder.config.parameters = {{"troupe.max_active", "0"}};
  BOOST_TEST(ensemble_of(folder).error().text
             == "model e: troupe.max_active: expected a number from 1 to 2147483648, got \"0\"");
  folder.config.parameters = {{"troupe.softmax", "y"}};
  BOOST_TEST(ensemble_of(folder).error().text
             == "model e: parameter \"troupe.softmax\" is not for an ensemble; those are "
                "troupe.max_active, troupe.max_in_flight");
}

BOOST_AUTO_TEST_CASE(needs_no_files_and_no_version_folders) {
  const auto root = fs::temp_directory_path() / ("troupe_ensemble_" + std::to_string(::getpid()));
  fs::create_directories(root / "e");
  fs::create_directories(root / "p");
  std::ofstream{root / "e" / "config.pbtxt"} << twice;
  std::ofstream{root / "p" / "pipeline.toml"} << "";
  const auto listed = list_models(root);
  const auto bare = read_model("e", root / "e");
  fs::create_directories(root / "e" / "2");
  const auto numbered = read_model("e", root / "e");
  fs::remove_all(root);
  BOOST_REQUIRE(listed);
  BOOST_TEST(*listed == (std::vector<std::string>{"e", "p"}), boost::test_tools::per_element());
  BOOST_REQUIRE_MESSAGE(bare, (bare ? "" : bare.error().text));
  BOOST_TEST(bare->versions.at(0).version == "1");
  BOOST_REQUIRE(numbered);
  BOOST_TEST(numbered->versions.at(0).version == "2");
}

BOOST_AUTO_TEST_SUITE_END()
