#include "runtime/repository/configure.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <fstream>

using namespace troupe;
using namespace troupe::repository;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

signature one_to_one(std::vector<std::int64_t> dims = {-1, 16}) {
  tensor_signature x{"x", dtype::float32, dims, {}, {}, false, {}};
  auto y = x;
  y.name = "y";
  return {{x}, {y}, 0};
}

result<configured_model> configured(const std::string& text,
                                    const signature& declared = one_to_one(),
                                    const std::string& why_rows_depend = {}) {
  auto config = parse_model_config(text, "config.pbtxt");
  if (!config)
    return propagate(std::move(config));
  return configure({"m", "/nowhere", std::move(*config), {}}, declared, why_rows_depend, {});
}

std::string refusal(const std::string& text, const signature& declared = one_to_one()) {
  auto made = configured(text, declared);
  return made ? "accepted" : made.error().text;
}

struct folder {
  folder() : path(fs::temp_directory_path() / ("troupe_repository_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~folder() { fs::remove_all(path); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream{path / name} << text;
  }

  fs::path path;
};

} // namespace

BOOST_AUTO_TEST_SUITE(model_configuration)

BOOST_AUTO_TEST_CASE(says_what_is_followed_and_warns_of_what_is_skipped) {
  const auto made = parse_model_config(R"(
    name: "m" platform: "onnxruntime_onnx" max_batch_size: 8
    input [ { name: "x" data_type: TYPE_FP32 dims: [ 16 ] } ]
    output [ { name: "y" data_type: TYPE_FP32 dims: [ -1 ] label_filename: "labels.txt" } ]
    instance_group [ { kind: KIND_CPU count: 2 } ]
    dynamic_batching {
      preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 500
      priority_levels: 3 default_priority_level: 2
      default_queue_policy {
        max_queue_size: 10 timeout_action: DELAY default_timeout_microseconds: 2000
      }
      priority_queue_policy { key: 1 value: { max_queue_size: 4 } }
    }
    parameters { key: "troupe.softmax" value: { string_value: "y" } }
    version_policy { specific { versions: [ 1, 3 ] } }
    model_warmup [ { name: "w" } ])",
                                       "config.pbtxt");
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  BOOST_TEST(*made->max_batch_size == 8);
  BOOST_TEST(made->outputs[0].label_file == "labels.txt");
  BOOST_TEST((made->dynamic_batching->max_queue_delay == 500us));
  const auto& priorities = made->dynamic_batching->priorities;
  BOOST_TEST(priorities.levels == 3u);
  BOOST_TEST(priorities.default_level == 2u);
  BOOST_TEST(priorities.policy_of(2).max_requests == 10);
  BOOST_TEST((priorities.policy_of(2).timeout == 2ms));
  BOOST_TEST((priorities.policy_of(2).action == batching::queue_policy::overdue::delay));
  BOOST_TEST(priorities.policy_of(1).max_requests == 4);
  BOOST_TEST(made->parameters.at("troupe.softmax") == "y");
  BOOST_TEST(made->versions.specific.size() == 2u);
  BOOST_TEST(made->warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(that_is_wrong_is_refused_with_its_place) {
  BOOST_TEST(refusal("max_batch_size: many").starts_with("config.pbtxt:1:17: "));
  BOOST_TEST(refusal("max_batch_size: -1")
             == "config.pbtxt: max_batch_size: expected 0 or more, got -1");
  BOOST_TEST(refusal("platform: \"tensorrt_plan\"").starts_with("config.pbtxt: platform "));
  BOOST_TEST(refusal("ensemble_scheduling { step [ { model_name: \"a\" } ] }")
             == "config.pbtxt: ensemble_scheduling is not supported");
  BOOST_TEST(refusal("dynamic_batching { priority_levels: 2 default_priority_level: 3 }")
                 .find("within them, got 2 and 3")
             != std::string::npos);
  BOOST_TEST(refusal("dynamic_batching { priority_levels: 2 "
                     "priority_queue_policy { key: 5 value: {} } }")
                 .find("a level from 1 to 2, got 5")
             != std::string::npos);
  BOOST_TEST(refusal("parameters { key: \"troupe.slo_ms\" value: { string_value: \"0\" } }")
                 .find("one positive number")
             != std::string::npos);
  BOOST_TEST(refusal("default_model_filename: \"../other/model.onnx\"").find("expected a name")
             != std::string::npos);
  BOOST_TEST(refusal(std::string(2 << 20, ' ')).find("at most") != std::string::npos);
  BOOST_TEST(refusal("parameters { key: \"troupe.sofmax\" value: { string_value: \"y\" } }")
                 .find("unknown parameter")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_does_not_fit_the_model_is_refused) {
  BOOST_TEST(refusal("max_batch_size: 4 input [ { name: \"z\" } ]")
             == "model m: the file has no input \"z\"; it has: x");
  BOOST_TEST(refusal("max_batch_size: 4 input [ { name: \"x\" data_type: TYPE_INT64 dims: [16] } ]")
             == "model m: input \"x\": data_type: the model has FP32, the configuration INT64");
  BOOST_TEST(refusal("max_batch_size: 4 output [ { name: \"y\" dims: [17] } ]")
             == "model m: output \"y\": dims: the model has [-1,16], the configuration [batch] + "
                "[17]");
  BOOST_TEST(
      refusal("max_batch_size: 4", one_to_one({2, 16}))
      == "model m: max_batch_size is 4, but axis 0 of \"x\" is not free: its shape is [2,16]");
}

BOOST_AUTO_TEST_CASE(without_a_batch_size_batches_only_what_is_proved_independent) {
  BOOST_TEST(configured("")->io.max_batch_size == 256);
  BOOST_TEST(configured("", one_to_one(), "node softmax mixes rows")->io.max_batch_size == 0);
  BOOST_TEST(configured("", one_to_one({1, 16}))->io.max_batch_size == 0);
  BOOST_TEST(configured("max_batch_size: 0")->io.max_batch_size == 0);
  const auto told = configured("max_batch_size: 4", one_to_one(), "node softmax mixes rows");
  BOOST_TEST(told->io.max_batch_size == 4);
  BOOST_TEST(told->notes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(narrows_free_dims_and_sets_the_policy) {
  const auto made = configured("max_batch_size: 8 input [ { name: \"x\" dims: [ 5 ] } ]"
                               "dynamic_batching { preferred_batch_size: 4 "
                               "max_queue_delay_microseconds: 100 }",
                               one_to_one({-1, -1}));
  BOOST_REQUIRE(made);
  BOOST_TEST(made->io.inputs[0].dims[1] == 5);
  BOOST_TEST(made->batching.min_rows == 4);
  BOOST_TEST(made->batching.max_rows == 8);
  BOOST_TEST((made->batching.max_wait == 100us));
  BOOST_TEST(!made->batching.work_conserving);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(model_repository, folder)

BOOST_AUTO_TEST_CASE(lists_folders_that_hold_a_model) {
  write("b/1/model.onnx", "x");
  write("a/config.pbtxt", "");
  write("notes/readme.txt", "x");
  const auto names = *list_models(path);
  BOOST_TEST(names == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST((list_models(path / "gone").error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(chooses_versions_by_number) {
  for (const auto* version : {"2", "10", "9", "01", "next"})
    write("m/" + std::string{version} + "/model.onnx", "x");
  auto model = read_model("m", path / "m");
  BOOST_REQUIRE(model);
  BOOST_REQUIRE(model->versions.size() == 1u);
  BOOST_TEST(model->versions[0].version == "10");
  write("m/config.pbtxt", "version_policy { all {} }");
  BOOST_TEST(read_model("m", path / "m")->versions.size() == 3u);
  write("m/config.pbtxt", "name: \"other\"");
  BOOST_TEST((read_model("m", path / "m").error().code == errc::invalid_argument));
  write("m/config.pbtxt", "version_policy { specific { versions: 7 } }");
  BOOST_TEST((read_model("m", path / "m").error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(reads_labels_a_line_each) {
  write("labels.txt", "cat\r\ndog\n\nbird");
  BOOST_TEST(*read_labels(path / "labels.txt")
                 == (std::vector<std::string>{"cat", "dog", "", "bird"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
