#include "runtime/pipeline/run.hpp"

#include "kernels/tensor/byte_strings.hpp"
#include "runtime/pipeline/holds.hpp"
#include "tests/runtime/pipeline/models.hpp"

#include <limits>

using namespace troupe;
using namespace troupe::pipeline;
using troupe::test::plan_of;

namespace {

tensor floats(shape dims, const std::vector<float>& values) {
  return {dtype::float32, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

tensor texts(const std::vector<std::string>& elements) {
  return *pack_strings(elements);
}

tensor truth(bool value) {
  const std::uint8_t byte = value ? 1 : 0;
  return {dtype::boolean, {1}, copy_of(std::as_bytes(std::span{&byte, 1}))};
}

std::vector<std::string> texts_in(const tensor& of) {
  std::vector<std::string> made;
  const auto elements = unpack_strings(of);
  for (auto one : *elements)
    made.emplace_back(one);
  return made;
}

const std::string steps = R"(
[[step]]
name = "find"
model = "detect"
inputs = { x = "image" }
outputs = ["boxes", "any", "score"]

[[step]]
name = "read"
model = "read"
inputs = { crop = "boxes" }
outputs = ["text"]
each_row_of = ["boxes"]
rows = 2
when = "any"
otherwise = { text = "all" }

[[step]]
name = "whole"
model = "whole"
inputs = { x = "image" }
outputs = { text = "all" }
unless = "any"
)";
const std::string head = "inputs = [\"image\"]\noutputs = [\"text\", \"score\"]\n";

struct running {
  explicit running(const std::string& text, const std::vector<std::string>& wanted = {})
      : at(begun(text, wanted)) {}

  static run begun(const std::string& text, const std::vector<std::string>& wanted) {
    auto made = run::begin(plan_of(text), {floats({1, 3}, {1, 2, 3})}, wanted);
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
    return std::move(*made);
  }

  /// The next call, by "step.part"; "" if there is none.
  std::string next() {
    auto made = at.next();
    if (!made)
      return "";
    last = std::move(*made);
    return std::to_string(last.step) + "." + std::to_string(last.part);
  }

  /// The answer of detect, with this many boxes.
  void found(std::int64_t boxes, bool any) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 4 * boxes; ++i)
      values.push_back(static_cast<float>(i / 4));
    must(at.answered(0, 0,
                     {{"any", truth(any)},
                      {"score", floats({1}, {0.5F})},
                      {"boxes", floats({boxes, 4}, values)}}));
  }

  void must(const result<void>& outcome) {
    BOOST_REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().text));
  }

  void join() {
    auto work = at.next_join();
    BOOST_REQUIRE(work.has_value());
    BOOST_TEST(!at.next_join().has_value());
    auto outputs = work->joined();
    BOOST_REQUIRE_MESSAGE(outputs, (outputs ? "" : outputs.error().text));
    must(at.joined(work->step, std::move(*outputs)));
  }

  run at;
  sub_request last;
};

} // namespace

BOOST_AUTO_TEST_SUITE(a_request_in_a_pipeline)

BOOST_AUTO_TEST_CASE(calls_models_as_their_inputs_become_known) {
  running request{head + steps};
  BOOST_TEST(request.next() == "0.0");
  BOOST_TEST(request.last.inputs.at(0).name == "x");
  BOOST_TEST(request.next() == "");
  request.found(1, true);
  BOOST_TEST(request.next() == "2.0");
  BOOST_TEST(request.next() == "");
  BOOST_TEST(!request.at.done());
  request.must(request.at.answered(2, 0, {{"text", texts({"a"})}}));
  request.join();
  BOOST_REQUIRE(request.at.done());
  const auto outputs = request.at.outputs();
  BOOST_REQUIRE(outputs.size() == 2u);
  BOOST_TEST(outputs[0].name == "text");
  BOOST_TEST(texts_in(outputs[0].value).at(0) == "a");
  BOOST_TEST(outputs[1].name == "score");
}

BOOST_AUTO_TEST_CASE(calls_once_a_row_and_joins_the_answers_in_order) {
  running request{head + steps};
  request.next();
  request.found(5, true);
  for (const auto* part : {"2.0", "2.1", "2.2"}) {
    BOOST_TEST(request.next() == part);
    const auto& rows = request.last.inputs.at(0).value;
    const bool last = std::string{part} == "2.2";
    BOOST_TEST(rows.dims[0] == (last ? 1 : 2));
    BOOST_TEST(elements_of<float>(rows.data)[0] == 2.0F * static_cast<float>(request.last.part));
  }
  BOOST_TEST(request.next() == "");
  request.must(request.at.answered(2, 2, {{"text", texts({"e"})}}));
  request.must(request.at.answered(2, 0, {{"text", texts({"a", "b"})}}));
  request.must(request.at.answered(2, 1, {{"text", texts({"c", "d", "more"})}}));
  request.join();
  BOOST_TEST(texts_in(request.at.outputs()[0].value)
                 == (std::vector<std::string>{"a", "b", "c", "d", "more", "e"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(makes_no_more_calls_at_once_than_it_may) {
  running request{"max_in_flight = 2\n" + head + steps};
  request.next();
  request.found(6, true);
  BOOST_TEST(request.next() == "2.0");
  BOOST_TEST(request.next() == "2.1");
  BOOST_TEST(request.next() == "");
  request.must(request.at.answered(2, 1, {{"text", texts({"x"})}}));
  BOOST_TEST(request.next() == "2.2");
  BOOST_TEST(request.next() == "");
}

BOOST_AUTO_TEST_CASE(without_rows_makes_no_calls_and_gets_no_rows) {
  running request{head + steps};
  request.next();
  request.found(0, true);
  BOOST_TEST(request.next() == "");
  request.join();
  BOOST_REQUIRE(request.at.done());
  const auto text = request.at.outputs()[0].value;
  BOOST_TEST((text.type == dtype::string));
  BOOST_TEST(text.dims.size() == 1u);
  BOOST_TEST(text.dims[0] == 0);
}

BOOST_AUTO_TEST_CASE(leaves_out_a_step_whose_condition_does_not_hold) {
  running request{head + steps};
  request.next();
  request.found(3, false);
  BOOST_TEST(request.next() == "1.0");
  request.must(request.at.answered(1, 0, {{"text", texts({"instead"})}}));
  BOOST_REQUIRE(request.at.done());
  BOOST_TEST(texts_in(request.at.outputs()[0].value).at(0) == "instead");
}

BOOST_AUTO_TEST_CASE(does_not_wait_for_a_step_whose_output_nobody_wants) {
  running request{head + steps, {"score"}};
  BOOST_TEST(request.next() == "0.0");
  request.found(2, true);
  BOOST_TEST(request.next() == "");
  BOOST_REQUIRE(request.at.done());
  BOOST_TEST(request.at.outputs().size() == 1u);
}

BOOST_AUTO_TEST_CASE(goes_without_what_an_absent_tensor_would_have_become) {
  const std::string chain = R"(
inputs = ["image"]
outputs = ["score", { name = "loud", optional = true }]
[[step]]
model = "detect"
inputs = { x = "image" }
outputs = ["boxes", "score"]
[[step]]
model = "read"
inputs = { crop = "boxes" }
outputs = ["text"]
when = { tensor = "score", greater = 0.5 }
[[step]]
model = "shout"
inputs = { in = "text" }
outputs = { out = "loud" }
)";
  for (const bool above : {false, true}) {
    running request{chain};
    request.next();
    request.must(request.at.answered(
        0, 0,
        {{"boxes", floats({1, 4}, {1, 2, 3, 4})}, {"score", floats({1}, {above ? 0.6F : 0.5F})}}));
    if (above) {
      BOOST_TEST(request.next() == "1.0");
      continue;
    }
    BOOST_REQUIRE(request.at.done());
    BOOST_TEST(request.at.outputs().size() == 1u);
    BOOST_TEST(request.at.outputs()[0].name == "score");
  }
}

BOOST_AUTO_TEST_CASE(counts_the_rows_of_each_call) {
  running request{R"(
inputs = ["image"]
outputs = ["boxes", "how_many"]
[[step]]
model = "detect"
inputs = { x = "image" }
outputs = ["boxes"]
each_row_of = ["image"]
row_counts = "how_many"
)"};
  BOOST_TEST(request.next() == "0.0");
  request.must(request.at.answered(0, 0, {{"boxes", floats({2, 4}, std::vector<float>(8))}}));
  request.join();
  const auto counts = elements_of<std::int64_t>(request.at.outputs()[1].value.data);
  BOOST_REQUIRE(counts.size() == 1u);
  BOOST_TEST(counts[0] == 2);
}

BOOST_AUTO_TEST_CASE(fails_with_the_name_of_the_step) {
  const auto answered = [](std::vector<named_value> outputs) {
    running request{head + steps};
    request.next();
    auto outcome = request.at.answered(0, 0, std::move(outputs));
    return outcome ? "" : outcome.error().text;
  };
  const auto boxes = floats({1, 4}, {1, 2, 3, 4});
  const auto score = floats({1}, {1});
  BOOST_TEST(answered({{"boxes", boxes}, {"any", truth(true)}})
             == "step \"find\": model detect answered without its output \"score\"");
  BOOST_TEST(answered({{"boxes", texts({"a"})}, {"any", truth(true)}, {"score", score}})
             == "step \"find\": output \"boxes\" of model detect: expected FP32, got BYTES");
  auto lying = boxes;
  lying.dims = {2, 4};
  BOOST_TEST(
      answered({{"boxes", lying}, {"any", truth(true)}, {"score", score}})
      == "step \"find\": output \"boxes\" of model detect: shape [2,4] of FP32 takes 32 bytes, got "
         "16");
  auto two = truth(true);
  two.dims = {0};
  two.data = {};
  BOOST_TEST(answered({{"boxes", boxes}, {"any", two}, {"score", score}})
             == "step \"whole\": condition: tensor \"any\": expected one element, got shape [0]");
}

BOOST_AUTO_TEST_CASE(refuses_more_calls_than_one_step_may_make) {
  running request{"max_fan_out = 2\n" + head + steps};
  request.next();
  auto outcome = request.at.answered(0, 0,
                                     {{"any", truth(true)},
                                      {"score", floats({1}, {0})},
                                      {"boxes", floats({5, 4}, std::vector<float>(20))}});
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().text
             == "step \"read\": 5 rows take 3 calls, expected at most 2 (max_fan_out)");
  BOOST_TEST((outcome.error().code == errc::failed_precondition));
}

BOOST_AUTO_TEST_CASE(refuses_answers_that_do_not_join) {
  auto whole = run::begin(plan_of(R"(
inputs = ["image"]
outputs = ["boxes"]
[[step]]
model = "detect"
inputs = { x = "image" }
outputs = ["boxes"]
each_row_of = ["image"]
)"),
                          {floats({2, 3}, std::vector<float>(6))}, {});
  BOOST_REQUIRE(whole);
  BOOST_REQUIRE(whole->next());
  BOOST_REQUIRE(whole->next());
  BOOST_REQUIRE(whole->answered(0, 0, {{"boxes", floats({1, 4}, std::vector<float>(4))}}));
  BOOST_REQUIRE(whole->answered(0, 1, {{"boxes", floats({1, 5}, std::vector<float>(5))}}));
  const auto joined = whole->next_join()->joined();
  BOOST_REQUIRE(!joined);
  BOOST_TEST(joined.error().text
             == "step \"detect\": tensor \"boxes\": FP32 [1,4] and FP32 [1,5] do not join");
}

BOOST_AUTO_TEST_CASE(cuts_texts_into_rows) {
  auto whole = texts({"a", "bcd", "", "ef"});
  whole.dims = {2, 2};
  const auto cutter = row_cutter::over(whole);
  BOOST_REQUIRE(cutter);
  BOOST_TEST(texts_in(cutter->cut(0, 1)) == (std::vector<std::string>{"a", "bcd"}),
             boost::test_tools::per_element());
  BOOST_TEST(texts_in(cutter->cut(1, 1)) == (std::vector<std::string>{"", "ef"}),
             boost::test_tools::per_element());
  const auto none = row_cutter::over({dtype::string, {std::int64_t{1} << 40, 0}, {}});
  BOOST_REQUIRE(none);
  BOOST_TEST(none->cut(7, 1).data.size() == 0u);
  BOOST_TEST(row_cutter::over({dtype::string, {}, {}}).error().text == "a scalar has no rows");
}

BOOST_AUTO_TEST_CASE(a_condition_and_its_counterpart_are_never_the_same) {
  const auto nan = floats({1}, {std::numeric_limits<float>::quiet_NaN()});
  for (const auto how : {comparison::equal, comparison::less, comparison::greater,
                         comparison::at_most, comparison::at_least})
    for (const auto& value : {nan, floats({}, {0.5F}), floats({1, 1}, {1}), floats({1}, {2})})
      BOOST_TEST(*holds({0, how, 1, true}, value) != *holds({0, how, 1, false}, value));
}

BOOST_AUTO_TEST_SUITE_END()
