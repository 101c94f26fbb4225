// A model's configuration, end to end: a repository with two versions of y = Relu(x), rows of any
// length, on two simulated devices that share their memory.

#include "actors/troupe.hpp"
#include "tests/actors/relu_model.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <span>

using namespace troupe;
namespace fs = std::filesystem;

namespace {

struct repository {
  repository()
      : path(fs::temp_directory_path() / ("troupe_settings_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    for (const auto* version : {"1", "2"}) {
      fs::create_directories(path / "relu" / version);
      std::ofstream{path / "relu" / version / "model.onnx", std::ios::binary} << test::relu_model();
    }
  }
  ~repository() { fs::remove_all(path); }

  result<std::unique_ptr<runtime>> start(const std::string& config,
                                         std::vector<std::string> devices = {"sim", "sim"}) {
    std::ofstream{path / "relu" / "config.pbtxt"} << config;
    options with;
    with.devices = std::move(devices);
    with.model_repository = path;
    with.load_all = false;
    return runtime::start(std::move(with));
  }

  fs::path path;
};

constexpr auto everything = R"(
  max_batch_size: 4
  version_policy { all {} }
  instance_group [ { count: 2 rate_limiter { resources [ { name: "r" global: true count: 1 } ] } } ]
  parameters { key: "troupe.labels" value { string_value: "stable=1, canary=2" } }
  parameters { key: "troupe.split" value { string_value: "stable=3, canary=1" } }
  parameters { key: "troupe.pad.n.lengths" value { string_value: "8" } })";

inference_request of(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(i % 2 == 0 ? i : -i));
  inference_request request;
  request.model_name = "relu";
  request.inputs.push_back({"x",
                            {dtype::float32,
                             {rows, columns},
                             copy_of(std::as_bytes(std::span{values.data(), values.size()}))},
                            {}});
  return request;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(settings_of_a_model, repository)

BOOST_AUTO_TEST_CASE(rows_without_elements_are_served_on_every_kind_of_device) {
  for (const auto* device : {"cpu:threads=1", "sim", "sim:host_visible=0"}) {
    auto started = start("max_batch_size: 4", {device});
    BOOST_REQUIRE_MESSAGE(started, (started ? "" : started.error().text));
    auto& system = **started;
    BOOST_REQUIRE(system.load("relu"));
    for (const std::int64_t rows : {1, 3, 4, 9}) {
      const auto answer = system.infer(of(rows, 0)).get();
      BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().text));
      BOOST_TEST((answer->outputs.at(0).value.dims == shape{rows, 0}));
    }
  }
}

BOOST_AUTO_TEST_CASE(are_followed_by_the_whole_system) {
  auto started = start(everything);
  BOOST_REQUIRE_MESSAGE(started, (started ? "" : started.error().text));
  auto& system = **started;
  const auto loaded = system.load("relu");
  BOOST_REQUIRE_MESSAGE(loaded, (loaded ? "" : loaded.error().text));
  std::map<std::string, int> served;
  for (int i = 0; i < 8; ++i)
    ++served[system.infer(of(1, 3)).get()->model_version];
  BOOST_TEST(served["1"] == 6);
  BOOST_TEST(served["2"] == 2);
  auto labelled = of(1, 3);
  labelled.parameters["version_label"] = "canary";
  BOOST_TEST(system.infer(std::move(labelled)).get()->model_version == "2");
  BOOST_TEST((system.metadata("relu")->versions == std::vector<std::string>{"1", "2"}));

  const auto answer = system.infer(of(10, 3)).get(); // split by rows, padded by columns
  BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().text));
  const auto& y = answer->outputs.at(0).value;
  BOOST_TEST((y.dims == shape{10, 3}));
  for (std::size_t i = 0; i < 30; ++i)
    BOOST_TEST(elements_of<float>(y.data)[i] == (i % 2 == 0 ? static_cast<float>(i) : 0.0f));
}

BOOST_AUTO_TEST_CASE(answer_everybody_when_many_ask_at_once) {
  auto started = start(everything);
  BOOST_REQUIRE(started);
  auto& system = **started;
  BOOST_REQUIRE(system.load("relu"));
  std::vector<std::future<response_part>> asked;
  for (int i = 0; i < 200; ++i)
    asked.push_back(system.infer(of(1 + i % 9, 1 + i % 10)));
  for (int i = 0; i < 200; ++i) {
    const auto answer = asked[static_cast<std::size_t>(i)].get();
    BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().text));
    BOOST_TEST((answer->outputs.at(0).value.dims == shape{1 + i % 9, 1 + i % 10}));
  }
}

BOOST_AUTO_TEST_CASE(that_no_device_fits_are_told_when_it_loads) {
  auto started = start("instance_group [ { kind: KIND_GPU } ]", {"cpu:threads=1"});
  BOOST_REQUIRE(started);
  const auto loaded = (*started)->load("relu");
  BOOST_REQUIRE(!loaded);
  BOOST_TEST(loaded.error().text.find("no device of the kind it asks for; there are: cpu")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
