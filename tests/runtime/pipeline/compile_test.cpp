#include "tests/runtime/pipeline/models.hpp"

using namespace troupe;
using namespace troupe::pipeline;
using troupe::test::compiled;
using troupe::test::plan_of;
using troupe::test::refusal;

namespace {

// A step in as few words as possible.
std::string step(const std::string& name, const std::string& model, const std::string& rest) {
  return "[[step]]\nname = \"" + name + "\"\nmodel = \"" + model + "\"\n" + rest + "\n";
}

const std::string detect =
    step("find", "detect", "inputs = { x = \"image\" }\noutputs = { boxes = \"boxes\" }");
const std::string find_and_read =
    "inputs = [\"image\"]\noutputs = [\"text\"]\n"
    + step("read", "read",
           "inputs = { crop = \"boxes\" }\noutputs = [\"text\"]\neach_row_of = [\"boxes\"]")
    + detect;

} // namespace

BOOST_AUTO_TEST_SUITE(a_pipeline_against_its_models)

BOOST_AUTO_TEST_CASE(gets_its_inputs_and_outputs_from_them) {
  const auto made = plan_of(find_and_read);
  BOOST_REQUIRE(made->io.inputs.size() == 1u);
  BOOST_TEST(made->io.inputs[0].name == "image");
  BOOST_TEST((made->io.inputs[0].type == dtype::float32));
  BOOST_TEST(made->io.inputs[0].dims == (std::vector<std::int64_t>{-1, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(made->io.outputs[0].name == "text");
  BOOST_TEST((made->io.outputs[0].type == dtype::string));
  BOOST_TEST(made->io.max_batch_size == 0);
}

BOOST_AUTO_TEST_CASE(puts_steps_behind_those_they_wait_for) {
  const auto made = plan_of(find_and_read);
  BOOST_TEST(made->steps[0].name == "find");
  BOOST_TEST(made->steps[1].name == "read");
  BOOST_TEST(made->steps[1].fans_out);
}

BOOST_AUTO_TEST_CASE(is_refused_for_names_nobody_knows) {
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
              + step("find", "detector", "inputs = { x = \"image\" }\noutputs = [\"boxes\"]"))
      == "p.toml: step \"find\": model detector: not found");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
                     + step("find", "detect",
                            "version = 9\ninputs = { x = \"image\" }\noutputs = [\"boxes\"]"))
             == "p.toml: step \"find\": model detect: not found");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
              + step("find", "detect", "inputs = { x = \"picture\" }\noutputs = [\"boxes\"]"))
      == "p.toml: step \"find\": input \"x\": no tensor \"picture\"; there are: boxes, image");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
                     + step("find", "detect", "inputs = [\"image\"]\noutputs = [\"boxes\"]"))
             == "p.toml: step \"find\": model detect has no input \"image\"");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"b\"]\n"
                     + step("find", "detect", "inputs = { x = \"image\" }\noutputs = [\"b\"]"))
             == "p.toml: step \"find\": model detect has no output \"b\"");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"text\"]\n" + detect)
             == "p.toml: output \"text\": no step makes a tensor \"text\"");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
                     + step("find", "detect",
                            "inputs = { x = \"image\" }\noutputs = [\"boxes\"]\nwhen = \"go\""))
             == "p.toml: step \"find\": condition: no tensor \"go\"; there are: boxes, image");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
              + step("find", "detect",
                     "inputs = { x = \"image\" }\noutputs = [\"boxes\"]\neach_row_of = [\"i\"]"))
      == "p.toml: step \"find\": each_row_of: tensor \"i\" is not among its inputs");
}

BOOST_AUTO_TEST_CASE(is_refused_for_names_given_twice) {
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n" + detect + detect)
             == "p.toml: two steps are called \"find\": name them");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n" + detect
                     + step("again", "detect", "inputs = { x = \"image\" }\noutputs = [\"boxes\"]"))
             == "p.toml: step \"again\": output tensor \"boxes\" is made by step \"find\" already");
  BOOST_TEST(refusal("inputs = [\"image\", \"image\"]\noutputs = [\"boxes\"]\n" + detect)
             == "p.toml: input \"image\": tensor \"image\" is an input of the pipeline already");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\", \"boxes\"]\n" + detect)
             == "p.toml: output \"boxes\" is listed twice");
}

BOOST_AUTO_TEST_CASE(is_refused_for_steps_that_wait_for_each_other) {
  BOOST_TEST(refusal("inputs = []\noutputs = [\"b\"]\n"
                     + step("one", "shout", "inputs = { in = \"a\" }\noutputs = { out = \"b\" }")
                     + step("two", "shout", "inputs = { in = \"b\" }\noutputs = { out = \"a\" }"))
             == "p.toml: steps wait for each other in a circle: \"one\" for \"two\"");
  BOOST_TEST(refusal("inputs = []\noutputs = [\"a\"]\n"
                     + step("one", "shout", "inputs = { in = \"a\" }\noutputs = { out = \"a\" }"))
             == "p.toml: steps wait for each other in a circle: \"one\"");
}

BOOST_AUTO_TEST_CASE(is_refused_for_types_and_sizes_that_do_not_meet) {
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"text\"]\n" + detect
              + step("loud", "shout", "inputs = { in = \"boxes\" }\noutputs = { out = \"text\" }"))
      == "p.toml: step \"loud\": input \"in\" of model shout takes BYTES [-1], tensor \"boxes\" "
         "is FP32 [-1,4]");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"text\"]\n" + detect
              + step("read", "whole", "inputs = { x = \"boxes\" }\noutputs = [\"text\"]"))
      == "p.toml: step \"read\": input \"x\" of model whole takes FP32 [-1,3], tensor \"boxes\" "
         "is FP32 [-1,4]");
  BOOST_TEST(
      refusal("inputs = [{ name = \"image\", datatype = \"FP16\" }]\noutputs = [\"boxes\"]\n"
              + detect)
      == "p.toml: step \"find\": input \"x\" of model detect takes FP32 [-1,3], tensor \"image\" "
         "is FP16 [-1,3]");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [{ name = \"boxes\", shape = [-1, 5] }]\n" + detect)
      == "p.toml: output \"boxes\" is declared as FP32 [-1,5], tensor \"boxes\" is FP32 [-1,4]");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"y\"]\n"
              + step("each", "one_row",
                     "inputs = { x = \"image\" }\noutputs = [\"y\"]\neach_row_of = [\"image\"]\n"
                     "rows = 2"))
      == "p.toml: step \"each\": input \"x\" of model one_row takes FP32 [1,3], tensor \"image\" "
         "is FP32 [-1,3], cut into 2 at a time");
  BOOST_TEST(
      refusal("inputs = [\"image\"]\noutputs = [\"y\"]\n"
              + step("each", "total",
                     "inputs = { x = \"image\" }\noutputs = [\"y\"]\neach_row_of = [\"image\"]"))
      == "p.toml: step \"each\": output \"y\" has no axis along which calls could be joined");
}

BOOST_AUTO_TEST_CASE(leaves_the_servers_own_tensors_of_a_stateful_model_to_it) {
  plan_of("inputs = [\"image\"]\noutputs = [\"y\"]\n"
          + step("add", "sum", "inputs = { x = \"image\" }\noutputs = [\"y\"]"));
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"y\"]\n"
                     + step("add", "sum",
                            "inputs = { x = \"image\", START = \"image\" }\noutputs = [\"y\"]"))
             == "p.toml: step \"add\": model sum has no input \"START\"");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"state\"]\n"
                     + step("add", "sum", "inputs = { x = \"image\" }\noutputs = [\"state\"]"))
             == "p.toml: step \"add\": model sum has no output \"state\"");
}

BOOST_AUTO_TEST_CASE(is_refused_for_inputs_left_out_and_tensors_that_nobody_takes) {
  BOOST_TEST(refusal("inputs = []\noutputs = [\"boxes\"]\n"
                     + step("find", "detect", "outputs = [\"boxes\"]"))
             == "p.toml: step \"find\": model detect takes an input \"x\", which is not given");
  BOOST_TEST(
      refusal("inputs = [\"image\", \"other\"]\noutputs = [\"boxes\"]\n" + detect)
      == "p.toml: input \"other\": expected a datatype and a shape: no model takes it that would "
         "say them");
  BOOST_TEST(refusal("inputs = [\"image\", { name = \"o\", datatype = \"BOOL\", shape = [] }]\n"
                     "outputs = [\"boxes\"]\n"
                     + detect)
             == "p.toml: input \"o\" is taken by no step");
  BOOST_TEST(refusal("inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
                     + step("find", "detect",
                            "inputs = { x = \"image\" }\noutputs = [\"boxes\", \"score\"]"))
             == "p.toml: step \"find\": output tensor \"score\" is taken by nobody");
  auto lenient = *parse(
      "inputs = [\"image\"]\noutputs = [\"boxes\"]\n"
          + step("find", "detect", "inputs = { x = \"image\" }\noutputs = [\"boxes\", \"score\"]"),
      "p.toml");
  lenient.allow_unused = true;
  const auto made = compile(lenient, test::models);
  BOOST_REQUIRE(made);
  BOOST_TEST((*made)->notes.at(0) == "step \"find\": output tensor \"score\" is taken by nobody");
}

BOOST_AUTO_TEST_CASE(needs_something_for_every_output_whatever_the_conditions_say) {
  const std::string head =
      "inputs = [\"image\"]\noutputs = [\"text\"]\n"
      + step("find", "detect", "inputs = { x = \"image\" }\noutputs = [\"boxes\", \"any\"]");
  const auto read = [](const std::string& rest) {
    return step("read", "read", "inputs = { crop = \"boxes\" }\noutputs = [\"text\"]\n" + rest);
  };
  const auto whole = [](const std::string& rest) {
    return step("whole", "whole",
                "inputs = { x = \"image\" }\noutputs = { text = \"all\" }\n" + rest);
  };
  BOOST_TEST(
      refusal(head + read("when = \"any\""))
      == "p.toml: output \"text\": tensor \"text\" is missing where step \"read\" does not run: "
         "expected an \"otherwise\" there, or optional = true");
  BOOST_TEST(refusal(head + read("when = \"any\"\notherwise = { text = \"all\" }") + whole(""))
             == "accepted");
  BOOST_TEST(refusal(head + read("when = \"any\"\notherwise = { text = \"all\" }")
                     + whole("unless = \"any\""))
             == "accepted");
  BOOST_TEST(refusal(head + read("when = \"any\"\notherwise = { text = \"all\" }")
                     + whole("when = \"any\""))
             != "accepted");
  BOOST_TEST(
      refusal(head + read("when = \"any\"\notherwise = { text = \"boxes\" }"))
      == "p.toml: step \"read\": otherwise: tensor \"text\" is BYTES [-1], \"boxes\" in its place "
         "is FP32 [-1,4]");
  BOOST_TEST(
      refusal("inputs = [{ name = \"image\", optional = true }]\noutputs = [\"boxes\"]\n" + detect)
      == "p.toml: output \"boxes\": tensor \"boxes\" is missing where step \"find\" does not run: "
         "expected an \"otherwise\" there, or optional = true");
}

BOOST_AUTO_TEST_CASE(decides_by_one_boolean_or_number) {
  const auto with = [](const std::string& when) {
    return refusal(
        "inputs = [\"image\"]\noutputs = [{ name = \"text\", optional = true }]\n"
        + step("find", "detect", "inputs = { x = \"image\" }\noutputs = [\"boxes\", \"score\"]")
        + step("read", "read", "inputs = { crop = \"boxes\" }\noutputs = [\"text\"]\n" + when));
  };
  BOOST_TEST(with("when = { tensor = \"score\", at_least = 0.5 }") == "accepted");
  BOOST_TEST(with("when = \"score\"")
             == "p.toml: step \"read\": condition: expected a BOOL, tensor \"score\" is FP32 [1]");
  BOOST_TEST(
      with("when = { tensor = \"boxes\", less = 1 }\neach_row_of = [\"boxes\"]")
      == "p.toml: step \"read\": condition: expected one element, tensor \"boxes\" is FP32 [-1,4]");
}

BOOST_AUTO_TEST_SUITE_END()
