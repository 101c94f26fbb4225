// Stages on the real actor system, through the embedding API alone.

#include "actors/troupe.hpp"
#include "kernels/tensor/byte_strings.hpp"
#include "tests/actors/texts.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

stage_signature text_to_text() {
  return {{{"text", "BYTES", {-1}}}, {{"text", "BYTES", {-1}}}};
}

inference_request asking(const std::string& model, const std::string& text) {
  auto request = test::text_request(model, text);
  request.id = "7";
  return request;
}

using test::text_of;

std::unique_ptr<runtime> started() {
  options with;
  with.devices = {"sim"};
  auto made = runtime::start(std::move(with));
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  return std::move(*made);
}

inference_response with_text(const std::string& text) {
  inference_response answer;
  answer.outputs.push_back({"text", *pack_strings(std::vector{text}), {}});
  return answer;
}

struct echo : stage {
  void on_request(stage_context&, job request) override {
    const auto said = unpack_strings(request.request().inputs[0].value)->at(0);
    if (said == "throw")
      throw std::runtime_error("as asked");
    if (said == "drop")
      return;
    request.reply(with_text(std::string{said}));
  }
};

// Asks the echo twice, one after the other, and computes in between.
struct twice : stage {
  void on_request(stage_context& context, job request) override {
    const auto parent = std::make_shared<job>(std::move(request));
    auto first = asking("echo", "a");
    context.submit(*parent, std::move(first), [parent](stage_context& again, response_part got) {
      auto number = std::make_shared<int>(0);
      again.offload([number] { *number = 42; },
                    [parent, number, said = text_of(got)](stage_context& last) {
                      last.submit(*parent, asking("echo", said + std::to_string(*number)),
                                  [parent](stage_context&, response_part end) {
                                    parent->reply(with_text(text_of(end)));
                                  });
                    });
    });
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(a_stage)

BOOST_AUTO_TEST_CASE(answers_and_keeps_the_id_of_the_request) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  auto answer = system->infer(asking("echo", "hello")).get();
  BOOST_TEST(text_of(answer) == "hello");
  BOOST_TEST(answer->id == "7");
  BOOST_TEST(answer->model_name == "echo");
}

BOOST_AUTO_TEST_CASE(that_throws_answers_internal_and_is_made_anew) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  BOOST_TEST((system->infer(asking("echo", "throw")).get().error().code == errc::internal));
  BOOST_TEST(text_of(system->infer(asking("echo", "again")).get()) == "again");
}

BOOST_AUTO_TEST_CASE(that_drops_its_job_answers_internal) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  BOOST_TEST((system->infer(asking("echo", "drop")).get().error().code == errc::internal));
}

BOOST_AUTO_TEST_CASE(asks_other_models_and_computes_outside_its_thread) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  BOOST_REQUIRE(
      system->add_stage("twice", text_to_text(), [] { return std::make_unique<twice>(); }));
  BOOST_TEST(text_of(system->infer(asking("twice", "x")).get()) == "a42");
}

BOOST_AUTO_TEST_CASE(is_checked_against_its_signature) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  auto wrong = asking("echo", "hello");
  wrong.inputs[0].name = "image";
  const auto answer = system->infer(std::move(wrong)).get();
  BOOST_TEST((answer.error().code == errc::invalid_argument));
  BOOST_TEST(answer.error().text == "model echo: no input \"image\"; it takes: text");
}

BOOST_AUTO_TEST_CASE(has_a_name_of_its_own) {
  auto system = started();
  BOOST_REQUIRE(system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); }));
  const auto again =
      system->add_stage("echo", text_to_text(), [] { return std::make_unique<echo>(); });
  BOOST_TEST((again.error().code == errc::already_exists));
  BOOST_TEST((system->infer(asking("other", "x")).get().error().code == errc::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
