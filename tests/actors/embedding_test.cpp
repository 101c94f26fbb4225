// The embedding API on the real engine, with a model written here: y = Relu(x), rows of two
// numbers.

#include "actors/troupe.hpp"
#include "tests/actors/relu_model.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct repository {
  repository()
      : path(fs::temp_directory_path() / ("troupe_embedding_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path / "relu" / "1");
    std::ofstream{path / "relu" / "1" / "model.onnx", std::ios::binary} << test::relu_model(2);
  }
  ~repository() { fs::remove_all(path); }

  std::unique_ptr<runtime> started(options with = {}) {
    if (with.devices == options{}.devices)
      with.devices = {"cpu:threads=1"};
    with.model_repository = path;
    auto made = runtime::start(std::move(with));
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
    return std::move(*made);
  }

  fs::path path;
};

inference_request asking(float value, const std::string& model = "relu") {
  inference_request request;
  request.model_name = model;
  const float values[]{value, -1};
  request.inputs.push_back(
      {"x", tensor{dtype::float32, {1, 2}, copy_of(std::as_bytes(std::span{values}))}, {}});
  return request;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(embedding, repository)

BOOST_AUTO_TEST_CASE(a_repository_is_loaded_and_served) {
  auto system = started();
  BOOST_TEST(system->ready());
  auto answer = system->infer(asking(3)).get();
  BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().text));
  const auto values = elements_of<float>(answer->outputs[0].value.data);
  BOOST_TEST(values[0] == 3.0f);
  BOOST_TEST(values[1] == 0.0f);
  BOOST_TEST(system->metadata("relu")->inputs[0].shape[0] == -1);
  BOOST_TEST(system->statistics("relu").at(0).inference_count == 1u);
}

BOOST_AUTO_TEST_CASE(a_device_whose_memory_the_host_cannot_see_serves_the_same) {
  options with;
  with.devices = {"sim:host_visible=0"}; // refuses to copy from and to what it did not hand out
  auto system = started(with);
  std::vector<std::future<response_part>> answers;
  for (int i = 0; i < 32; ++i)
    answers.push_back(system->infer(asking(static_cast<float>(i))));
  for (int i = 0; i < 32; ++i) {
    auto answer = answers[static_cast<std::size_t>(i)].get();
    BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().text));
    const auto values = elements_of<float>(answer->outputs[0].value.data);
    BOOST_TEST(values[0] == static_cast<float>(i));
    BOOST_TEST(values[1] == 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(models_come_and_go) {
  options with;
  with.load_all = false;
  auto system = started(with);
  BOOST_TEST((system->infer(asking(1)).get().error().code == errc::not_found));
  BOOST_REQUIRE(system->load("relu"));
  BOOST_TEST(system->infer(asking(1)).get().has_value());
  BOOST_REQUIRE(system->load("relu")); // again: the new takes the place of the old
  BOOST_TEST(system->infer(asking(1)).get().has_value());
  BOOST_REQUIRE(system->unload("relu"));
  BOOST_TEST((system->infer(asking(1)).get().error().code == errc::not_found));
  BOOST_REQUIRE(system->load("other", path / "relu" / "1" / "model.onnx"));
  BOOST_TEST(system->infer(asking(1, "other")).get().has_value());
  BOOST_TEST((system->load("../relu").error().code == errc::not_found));
  BOOST_TEST((system->unload("gone").error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(a_model_is_loaded_when_it_is_first_asked_for) {
  options with;
  with.load_all = false;
  with.load_on_miss = true;
  auto system = started(with);
  std::vector<std::future<response_part>> answers;
  for (int i = 0; i < 8; ++i)
    answers.push_back(system->infer(asking(1)));
  for (auto& one : answers)
    BOOST_TEST(one.get().has_value());
  BOOST_TEST((system->infer(asking(1, "other")).get().error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(a_broken_model_ends_the_start_with_its_reason) {
  std::ofstream{path / "relu" / "config.pbtxt"} << "input [ { name: \"z\" } ]";
  options with;
  with.devices = {"cpu:threads=1"};
  with.model_repository = path;
  auto made = runtime::start(std::move(with));
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.error().text.find("the file has no input \"z\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_request_of_many_threads_gets_one_answer_while_the_system_stops) {
  auto system = started();
  std::atomic<int> sent{0};
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        ++sent;
        system->infer(asking(static_cast<float>(i)), [&, i](const response_part& part) {
          ++answered;
          if (part && elements_of<float>(part->outputs[0].value.data)[0] != static_cast<float>(i))
            ++wrong;
          if (!part && part.error().code != errc::unavailable)
            ++wrong;
        });
      }
    });
  while (answered < 300)
    std::this_thread::yield();
  system->stop(10s);
  for (auto& one : clients)
    one.join();
  BOOST_TEST(sent == 2000);
  BOOST_TEST(answered == 2000);
  BOOST_TEST(wrong == 0);
  BOOST_TEST(!system->ready());
}

BOOST_AUTO_TEST_SUITE_END()
