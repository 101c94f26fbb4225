#include "tests/runtime/pipeline/models.hpp"

using namespace troupe;
using namespace troupe::pipeline;
using troupe::test::refusal;

BOOST_AUTO_TEST_SUITE(a_declared_pipeline)

BOOST_AUTO_TEST_CASE(says_everything_a_file_can_say) {
  const auto made = parse(R"(
max_active = 8
max_in_flight = 4
max_fan_out = 100
inputs = ["image", { name = "mask", datatype = "BOOL", shape = [-1, 2], optional = true }]
outputs = ["text", { name = "level", tensor = "score", optional = true }]

[models]
detector = "files/detector.onnx"

[[step]]
model = "detector"
version = 3
inputs = { x = "image" }
outputs = { boxes = "boxes", s = "score" }

[[step]]
name = "read"
model = "reader"
version = "stable"
inputs = ["boxes"]
outputs = { out = "text" }
each_row_of = ["boxes"]
rows = 2
row_counts = "counts"
unless = { tensor = "score", less = 0.5 }
otherwise = { text = "nothing" }
)",
                          "/some/where/p.toml");
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  BOOST_TEST(made->max_active == 8u);
  BOOST_TEST(made->max_in_flight == 4u);
  BOOST_TEST(made->max_fan_out == 100);
  BOOST_TEST(made->models.at("detector").string() == "/some/where/files/detector.onnx");
  BOOST_REQUIRE(made->inputs.size() == 2u);
  BOOST_TEST(!made->inputs[0].type.has_value());
  BOOST_TEST((made->inputs[1].type == dtype::boolean));
  BOOST_TEST(made->inputs[1].dims->size() == 2u);
  BOOST_TEST(made->inputs[1].optional);
  BOOST_TEST(made->outputs[1].tensor == "score");
  BOOST_REQUIRE(made->steps.size() == 2u);
  BOOST_TEST(made->steps[0].name == "detector");
  BOOST_TEST(made->steps[0].version == "3");
  BOOST_TEST(made->steps[0].inputs[0].port == "x");
  BOOST_TEST(made->steps[0].inputs[0].tensor == "image");
  const auto& read = made->steps[1];
  BOOST_TEST(read.version == "stable");
  BOOST_TEST(read.inputs[0].port == "boxes");
  BOOST_TEST(read.each_row_of.at(0) == "boxes");
  BOOST_TEST(read.rows == 2);
  BOOST_TEST(read.row_counts == "counts");
  BOOST_REQUIRE(read.when.has_value());
  BOOST_TEST((read.when->how == comparison::less));
  BOOST_TEST(read.when->number == 0.5);
  BOOST_TEST(!read.when->wanted);
  BOOST_TEST(read.otherwise.at("text") == "nothing");
}

BOOST_AUTO_TEST_CASE(that_is_wrong_is_refused_with_its_line) {
  const std::string head = "inputs = [\"a\"]\noutputs = [\"b\"]\n[[step]]\nmodel = \"m\"\n";
  BOOST_TEST(refusal("inputs = [").starts_with("p.toml:1: "));
  BOOST_TEST(refusal("outputs = []") == "p.toml:1: inputs is missing: expected an array");
  BOOST_TEST(refusal("inputs = 3") == "p.toml:1: inputs: expected an array");
  BOOST_TEST(refusal("inputs = [3]") == "p.toml:1: inputs: expected names or tables");
  BOOST_TEST(refusal("inputs = []\noutputs = []\nstep = [\"s\"]")
             == "p.toml:1: step: expected tables, [[step]]");
  BOOST_TEST(refusal(head + "rows = 2")
             == "p.toml:3: step \"m\": rows says nothing without each_row_of");
  BOOST_TEST(refusal(head + "name = 4") == "p.toml:5: name: expected a string that is not empty");
  BOOST_TEST(refusal(head + "input = {}") == "p.toml:5: step \"m\": unknown key \"input\"");
  BOOST_TEST(refusal(head + "inputs = { x = 3 }")
             == "p.toml:5: step \"m\": inputs.x: expected a string that is not empty");
  BOOST_TEST(refusal(head + "each_row_of = [\"a\"]\nrows = 0")
             == "p.toml:6: step \"m\": rows: expected a number from 1 to 1048576");
  BOOST_TEST(refusal(head + "when = \"a\"\nunless = \"a\"")
             == "p.toml:3: step \"m\": expected when or unless, there are both");
  BOOST_TEST(refusal(head + "when = { tensor = \"a\", less = 1, greater = 0 }")
             == "p.toml:5: step \"m\": expected one comparison, there are several");
  BOOST_TEST(refusal(head + "when = { tensor = \"a\", equal = nan }")
             == "p.toml:5: step \"m\": equal: no comparison with nan holds");
  BOOST_TEST(refusal(head + "when = { tensor = \"a\", near = 1 }")
             == "p.toml:5: step \"m\": unknown key \"near\"");
  BOOST_TEST(refusal(head + "when = { less = 1 }")
             == "p.toml:5: step \"m\": tensor is missing: expected a string that is not empty");
  BOOST_TEST(refusal("inputs = [{ name = \"a\", datatype = \"FP31\" }]")
                 .starts_with("p.toml:1: input \"a\": datatype: "));
  BOOST_TEST(refusal("inputs = [{ name = \"a\", shape = [-2] }]")
             == "p.toml:1: input \"a\": shape: expected numbers of at least -1");
  BOOST_TEST(refusal("max_in_flight = 0\ninputs = []\noutputs = []\nstep = []")
             == "p.toml:1: max_in_flight: expected a number from 1 to 1048576");
  BOOST_TEST(refusal(std::string((1 << 20) + 1, '#'))
             == "p.toml: expected at most 1048576 bytes, got 1048577");
}

BOOST_AUTO_TEST_CASE(comes_from_a_file_that_is_there) {
  BOOST_TEST((read_file("/no/such/p.toml").error().code == errc::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
