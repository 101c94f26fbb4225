// The pipeline's stage in a runtime whose three networks are stages made of code: a detector that
// finds one bar, a classifier that says what it is told, a recogniser that always reads "ab".

#include "apps/ocr/pipeline/answer.hpp"
#include "apps/ocr/pipeline/pipeline.hpp"
#include "apps/ocr/pipeline/stage.hpp"
#include "apps/ocr/program/exchange.hpp"
#include "encode.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::ocr;

namespace {

tensor floats(shape dims, const std::vector<float>& values) {
  return {dtype::float32, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

// What the fakes do and have seen. Shared with stages on other threads.
struct world {
  std::atomic<bool> detector_fails{false};
  std::atomic<int> bars{1};
  std::mutex lock;
  std::vector<shape> recognised; // dims of the recogniser's inputs

  std::mutex held_lock;
  bool hold = false; // the detector keeps its jobs until `release`
  std::vector<job> held;
};

void answer(job& asked, const char* output, tensor value) {
  inference_response made;
  made.model_name = asked.request().model_name;
  made.outputs.push_back({output, std::move(value), {}});
  asked.reply(std::move(made));
}

// Bars of 200 x 20 below each other, whatever the page.
void detect(world& in, job& asked) {
  const auto& dims = asked.request().inputs[0].value.dims;
  auto width = static_cast<std::size_t>(dims[3]);
  std::vector<float> map(static_cast<std::size_t>(dims[2]) * width);
  for (int bar = 0; bar < in.bars; ++bar)
    for (std::size_t y = 0; y < 20; ++y)
      for (std::size_t x = 40; x < 240; ++x)
        map[(static_cast<std::size_t>(bar) * 60 + 30 + y) * width + x] = 0.9f;
  answer(asked, "map", floats({1, 1, dims[2], dims[3]}, map));
}

class detector final : public stage {
public:
  explicit detector(world& in) : in_(in) {}
  void on_request(stage_context&, job asked) override {
    if (in_.detector_fails)
      return asked.fail({errc::internal, "the detector broke", 0});
    std::lock_guard guard(in_.held_lock);
    if (in_.hold)
      in_.held.push_back(std::move(asked));
    else
      detect(in_, asked);
  }

private:
  world& in_;
};

class classifier final : public stage {
public:
  void on_request(stage_context&, job asked) override {
    auto rows = asked.request().inputs[0].value.dims[0];
    std::vector<float> values;
    for (std::int64_t i = 0; i < rows; ++i)
      values.insert(values.end(), {0.99f, 0.01f});
    answer(asked, "directions", floats({rows, 2}, values));
  }
};

class recogniser final : public stage {
public:
  explicit recogniser(world& in) : in_(in) {}
  void on_request(stage_context&, job asked) override {
    auto dims = asked.request().inputs[0].value.dims;
    {
      std::lock_guard guard(in_.lock);
      in_.recognised.push_back(dims);
    }
    std::vector<float> values;
    for (std::int64_t i = 0; i < dims[0]; ++i)
      values.insert(values.end(), {0, 0.9f, 0, 0, 0, 0, 0.7f, 0}); // a, b of: blank, a, b, space
    answer(asked, "steps", floats({dims[0], 2, 4}, values));
  }

private:
  world& in_;
};

struct fixture {
  explicit fixture(pipeline_options with = {}) {
    options start;
    start.scheduler_threads = 2;
    auto started = runtime::start(start);
    BOOST_REQUIRE_MESSAGE(started, started.error().text);
    system = std::move(*started);
    add("ocr_det", {{"pixels", "FP32", {-1, 3, -1, -1}}}, {{"map", "FP32", {-1, 1, -1, -1}}},
        [this] { return std::make_unique<detector>(in); });
    add("ocr_cls", {{"crops", "FP32", {-1, 3, 48, 192}}}, {{"directions", "FP32", {-1, 2}}},
        [] { return std::make_unique<classifier>(); });
    add("ocr_rec", {{"lines", "FP32", {-1, 3, 48, -1}}}, {{"steps", "FP32", {-1, -1, -1}}},
        [this] { return std::make_unique<recogniser>(in); });
    auto tools = std::make_shared<const equipment>(equipment{std::move(with),
                                                             {"ocr_det", "pixels", "map"},
                                                             {"ocr_cls", "crops", "directions"},
                                                             {"ocr_rec", "lines", "steps"},
                                                             alphabet::parse("a\nb").value()});
    add("ocr", input_signature(), output_signature(),
        [tools] { return std::make_unique<text_stage>(tools); });
  }

  void add(const std::string& name, std::vector<protocol::tensor_metadata> inputs,
           std::vector<protocol::tensor_metadata> outputs, stage_factory make) {
    auto added = system->add_stage(name, {std::move(inputs), std::move(outputs)}, std::move(make));
    BOOST_REQUIRE_MESSAGE(added, added.error().text);
  }

  // Lets the detector go on, with what it holds and what comes.
  void release() {
    std::lock_guard guard(in.held_lock);
    in.hold = false;
    for (auto& each : in.held)
      detect(in, each);
    in.held.clear();
  }

  world in; // outlives the runtime, whose stages refer to it
  std::unique_ptr<runtime> system;
};

std::string page_file() {
  auto png = test::png<std::uint8_t>(400, 300, 1, std::vector<std::uint8_t>(400 * 300, 255));
  return {reinterpret_cast<const char*>(png.data()), png.size()};
}

inference_request request_of(const std::vector<std::string>& files) {
  inference_request asked;
  asked.model_name = "ocr";
  asked.id = "my own";
  asked.inputs.push_back({"image", pack_strings(files).value(), {}});
  return asked;
}

void check_error(const response_part& part, errc code, const std::string& text) {
  BOOST_REQUIRE(!part);
  BOOST_TEST((part.error().code == code), to_string(part.error()));
  BOOST_TEST(part.error().text.find(text) != std::string::npos, part.error().text);
}

} // namespace

BOOST_AUTO_TEST_SUITE(text_stages)

BOOST_AUTO_TEST_CASE(an_image_goes_through_every_step) {
  fixture at;
  auto part = at.system->infer(request_of({page_file()})).get();
  BOOST_REQUIRE_MESSAGE(part, part.error().text);
  BOOST_TEST(part->id == "my own");
  auto read = text_of(*part).value();
  BOOST_REQUIRE(read.lines.size() == 1);
  BOOST_TEST(read.lines[0].text == "ab");
  BOOST_TEST(read.lines[0].score == 0.8f, boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(read.lines[0].image_index == 0);
  for (const char* step : {"decode_ms", "detect_ms", "classify_ms", "recognise_ms"})
    BOOST_TEST(read.timings_ms.count(step) == 1u);
}

BOOST_AUTO_TEST_CASE(several_images_of_a_request_are_told_apart) {
  fixture at;
  auto part = at.system->infer(request_of({page_file(), page_file(), page_file()})).get();
  BOOST_REQUIRE_MESSAGE(part, part.error().text);
  auto read = text_of(*part).value();
  BOOST_REQUIRE(read.lines.size() == 3);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(read.lines[static_cast<std::size_t>(i)].image_index == i);
}

BOOST_AUTO_TEST_CASE(crops_go_to_the_recogniser_in_groups_of_bounded_size) {
  pipeline_options few;
  few.rows_per_request = 4;
  fixture at{few};
  at.in.bars = 10;
  auto read = text_of(at.system->infer(request_of({page_file()})).get().value()).value();
  BOOST_TEST(read.lines.size() == 10u);
  std::int64_t rows = 0;
  for (const auto& dims : at.in.recognised) {
    BOOST_TEST(dims[0] <= 4);
    rows += dims[0];
  }
  BOOST_TEST(rows == 10);
}

BOOST_AUTO_TEST_CASE(a_page_without_text_is_an_empty_answer) {
  fixture at;
  at.in.bars = 0;
  auto read = text_of(at.system->infer(request_of({page_file()})).get().value()).value();
  BOOST_TEST(read.lines.empty());
  BOOST_TEST(text_of(at.system->infer(request_of({})).get().value()).value().lines.empty());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_image_fails_its_request_by_name) {
  fixture at;
  check_error(at.system->infer(request_of({page_file(), "not an image"})).get(),
              errc::invalid_argument, "input image, element 1: image: expected a PNG or JPEG");
  BOOST_TEST(bool{at.system->infer(request_of({page_file()})).get()});
}

BOOST_AUTO_TEST_CASE(a_failing_network_fails_the_request_once) {
  fixture at;
  at.in.detector_fails = true;
  check_error(at.system->infer(request_of({page_file(), page_file(), page_file()})).get(),
              errc::internal, "the detector broke");
  at.in.detector_fails = false;
  BOOST_TEST(bool{at.system->infer(request_of({page_file()})).get()});
}

BOOST_AUTO_TEST_CASE(more_images_than_allowed_are_refused) {
  pipeline_options two;
  two.max_images = 2;
  fixture at{two};
  check_error(at.system->infer(request_of({"", "", ""})).get(), errc::invalid_argument,
              "3 images, at most 2");
}

BOOST_AUTO_TEST_CASE(many_requests_at_once_are_each_answered) {
  pipeline_options narrow;
  narrow.max_active_images = 2;
  fixture at{narrow};
  std::vector<std::future<response_part>> answers;
  for (int i = 0; i < 40; ++i)
    answers.push_back(at.system->infer(request_of({i % 4 == 3 ? "broken" : page_file()})));
  int read = 0;
  for (auto& each : answers)
    read += each.get() ? 1 : 0;
  BOOST_TEST(read == 30);
}

BOOST_AUTO_TEST_CASE(past_the_bound_requests_are_refused_and_those_behind_it_are_served) {
  pipeline_options narrow;
  narrow.max_active_images = 1;
  narrow.max_waiting = 2;
  fixture at{narrow};
  at.in.hold = true;
  std::vector<std::future<response_part>> answers;
  for (int i = 0; i < 4; ++i)
    answers.push_back(at.system->infer(request_of({page_file()})));
  check_error(answers.back().get(), errc::resource_exhausted, "requests wait already");
  answers.pop_back();
  at.release();
  for (auto& each : answers)
    BOOST_TEST(bool{each.get()});
}

BOOST_AUTO_TEST_CASE(a_cancelled_request_ends_and_makes_room_for_the_next) {
  pipeline_options narrow;
  narrow.max_active_images = 1;
  fixture at{narrow};
  at.in.hold = true;
  std::promise<response_part> first;
  auto call = at.system->infer(request_of({page_file()}),
                               [&](response_part part) { first.set_value(std::move(part)); });
  auto second = at.system->infer(request_of({page_file()}));
  call->cancel();
  at.release();
  check_error(first.get_future().get(), errc::cancelled, "cancelled");
  BOOST_TEST(bool{second.get()});
}

BOOST_AUTO_TEST_CASE(registering_says_which_network_is_missing) {
  auto system = runtime::start({}).value();
  BOOST_TEST(!has_networks(*system));
  auto registered = register_pipeline(*system);
  BOOST_REQUIRE(!registered);
  BOOST_TEST((registered.error().code == errc::failed_precondition));
  BOOST_TEST(registered.error().text.find("needs a text detection model named ocr_det")
                 != std::string::npos,
             registered.error().text);
}

BOOST_AUTO_TEST_CASE(registering_asks_for_an_alphabet) {
  fixture at;
  pipeline_options second;
  second.name = "again";
  auto registered = register_pipeline(*at.system, second);
  BOOST_REQUIRE(!registered);
  BOOST_TEST(registered.error().text.find("property \"character\"") != std::string::npos,
             registered.error().text);
}

BOOST_AUTO_TEST_SUITE_END()
