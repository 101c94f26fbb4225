#include "runtime/repository/configure.hpp"
#include "runtime/repository/instances.hpp"

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

BOOST_AUTO_TEST_CASE(says_what_is_padded) {
  const signature declared{
      {{"ids", dtype::int64, {-1, -1}, {"batch", "seq"}, {}, false, {}},
       {"mask", dtype::int64, {-1, -1}, {"batch", "seq"}, {}, false, {}},
       {"kind", dtype::int64, {-1, 1}, {"batch", ""}, {}, false, {}}},
      {{"logits", dtype::float32, {-1, -1, 4}, {"batch", "seq", ""}, {}, false, {}}},
      0};
  const auto parameter = [](const std::string& what, const std::string& value) {
    return " parameters { key: \"troupe.pad." + what + "\" value: { string_value: \"" + value
           + "\" } }";
  };
  const std::string batches = "max_batch_size: 8";
  const auto by_symbol = configured(
      batches + parameter("seq.lengths", "64, 16, 64") + parameter("seq.mask", "mask"), declared);
  BOOST_REQUIRE_MESSAGE(by_symbol, (by_symbol ? "" : by_symbol.error().text));
  const auto& seq = by_symbol->padding.lengths.at(0);
  BOOST_TEST(seq.inputs.size() == 2u);
  BOOST_TEST(seq.outputs.at(0).axis == 1u);
  BOOST_TEST(*seq.mask == 1u);
  BOOST_TEST(seq.bucket(1) == 16);
  BOOST_TEST(seq.bucket(17) == 64);
  BOOST_TEST(seq.bucket(65) == 65);
  const auto by_axis = configured(batches + parameter("n.inputs", "ids:1=-1, mask:1")
                                      + parameter("n.outputs", "logits:1/8"),
                                  declared);
  BOOST_REQUIRE_MESSAGE(by_axis, (by_axis ? "" : by_axis.error().text));
  BOOST_TEST(by_axis->padding.value_of(0) == -1.0);
  BOOST_TEST(by_axis->padding.value_of(1) == 0.0);
  BOOST_TEST(by_axis->padding.lengths.at(0).outputs.at(0).divisor == 8);
  BOOST_TEST(by_axis->padding.lengths[0].bucket(33) == 64); // powers of two
  const auto refused = [&](const std::string& what, const std::string& value) {
    return refusal(batches + parameter(what, value), declared);
  };
  BOOST_TEST(refused("n.lengths", "16").find("expected troupe.pad.n.inputs") != std::string::npos);
  BOOST_TEST(refused("n.inputs", "ids").find("expected tensor:axis") != std::string::npos);
  BOOST_TEST(refused("n.inputs", "idz:1").find("no tensor \"idz\"") != std::string::npos);
  BOOST_TEST(refused("n.inputs", "ids:0").find("axis 0 of \"ids\" is the batch")
             != std::string::npos);
  BOOST_TEST(refused("n.inputs", "kind:1").find("is not free") != std::string::npos);
  BOOST_TEST(refused("n.inputs", "ids:7").find("is not free") != std::string::npos);
  BOOST_TEST(refused("n.inputs", "ids:1=x").find("a number to pad with") != std::string::npos);
  BOOST_TEST(refused("n.outputs", "logits:1/0").find("divisor") != std::string::npos);
  BOOST_TEST(refused("seq.mask", "kind").find("has no axis among") != std::string::npos);
  BOOST_TEST(refused("seq.length", "16").find("unknown parameter") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_where_a_model_runs_and_what_it_needs) {
  const auto on = [](const std::string& text, const std::vector<std::string_view>& devices) {
    auto config = parse_model_config(text, "config.pbtxt");
    BOOST_REQUIRE_MESSAGE(config, (config ? "" : config.error().text));
    return instances_on({"m", "/nowhere", std::move(*config), {}}, devices);
  };
  const std::vector<std::string_view> both{"cpu", "cuda", "cuda"};
  BOOST_TEST((*on("", both)).at(1)->instances == 0);
  const auto cpu = *on("instance_group [ { kind: KIND_CPU count: 2 } ]", both);
  BOOST_TEST(cpu.at(0)->instances == 2);
  BOOST_TEST(!cpu.at(1).has_value());
  const auto second_gpu = *on("instance_group [ { kind: KIND_GPU gpus: [ 1 ] count: 3 },"
                              " { kind: KIND_GPU gpus: [ 1 ] count: 1 } ]",
                              both);
  BOOST_TEST(!second_gpu.at(0).has_value());
  BOOST_TEST(!second_gpu.at(1).has_value());
  BOOST_TEST(second_gpu.at(2)->instances == 4);
  const auto limited = *on("instance_group [ { rate_limiter { priority: 2 resources ["
                           " { name: \"a\" global: true count: 4 }, { name: \"b\" count: 1 } ]"
                           " } } ]",
                           both);
  BOOST_TEST(limited.at(2)->share == 0.5);
  BOOST_TEST(limited.at(2)->resources.at(0).scope == 0u);
  BOOST_TEST(limited.at(2)->resources.at(0).count == 4);
  BOOST_TEST(limited.at(2)->resources.at(1).scope == 3u);
  BOOST_TEST(on("instance_group [ { kind: KIND_GPU } ]", {"cpu"}).error().text
             == "model m: instance_group: no device of the kind it asks for; there are: cpu");
  BOOST_TEST(refusal("instance_group [ { count: -1 } ]").find("from 1 to 1024, got -1")
             != std::string::npos);
  BOOST_TEST(refusal("instance_group [ { rate_limiter { resources [ { count: 1 } ] } } ]")
                 .find("a name and a count")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_how_requests_are_steps_of_a_sequence) {
  const auto named = [](const std::string& name, dtype type, std::vector<std::int64_t> dims) {
    return tensor_signature{name, type, std::move(dims), {}, {}, false, {}};
  };
  const signature declared{
      {named("x", dtype::float32, {-1, 4}), named("start", dtype::int32, {-1, 1}),
       named("ready", dtype::boolean, {-1}), named("id", dtype::uint64, {-1, 1}),
       named("sum", dtype::float32, {-1, 4})},
      {named("y", dtype::float32, {-1, 4}), named("new_sum", dtype::float32, {-1, 4})},
      0};
  const auto control = [](const std::string& name, const std::string& kind,
                          const std::string& more) {
    return " control_input [ { name: \"" + name + "\" control [ { kind: CONTROL_SEQUENCE_" + kind
           + " " + more + " } ] } ]";
  };
  const std::string state = " state [ { input_name: \"sum\" output_name: \"new_sum\""
                            " data_type: TYPE_FP32 dims: [ 4 ] } ]";
  const auto with = [](const std::string& what) {
    return "max_batch_size: 8 sequence_batching {" + what + "}";
  };
  const auto made =
      configured(with("max_sequence_idle_microseconds: 5000 oldest { max_candidate_sequences: 16"
                      " max_queue_delay_microseconds: 100 preferred_batch_size: 4 }"
                      + control("start", "START", "int32_false_true: [ 0, 1 ]")
                      + control("ready", "READY", "bool_false_true: [ false, true ]")
                      + control("id", "CORRID", "data_type: TYPE_UINT64") + state),
                 declared);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  const auto& rules = *made->sequences;
  BOOST_TEST((rules.max_idle == 5ms));
  BOOST_TEST(rules.slots == 16u);
  BOOST_TEST(rules.controls.size() == 2u);
  BOOST_TEST(elements_of<std::int32_t>(rules.controls[0].yes.data)[0] == 1);
  BOOST_TEST(rules.controls[1].no.dims.size() == 1u);
  BOOST_TEST(rules.id->input == 3u);
  BOOST_TEST(rules.states.at(0).initial.data.size() == 16u);
  BOOST_TEST(rules.state_bytes == 64u);
  BOOST_TEST(made->batching.min_rows == 4);
  BOOST_TEST(!made->io.inputs[0].internal);
  BOOST_TEST(made->io.inputs[4].internal);
  BOOST_TEST(made->io.outputs[1].internal);
  const auto direct = configured(with(state), declared);
  BOOST_TEST(direct->sequences->slots == 8u);
  BOOST_TEST((direct->sequences->max_idle == 1s));
  const auto shown =
      configured(with(state) + " output [ { name: \"new_sum\" dims: [ 4 ] } ]", declared);
  BOOST_TEST(!shown->io.outputs[1].internal);

  const auto refused = [&](const std::string& what) { return refusal(with(what), declared); };
  BOOST_TEST(refused(control("start", "START", "")).find("expected one of int32_false_true")
             != std::string::npos);
  BOOST_TEST(refused(control("start", "START", "fp32_false_true: [ 0, 1 ]"))
             == "model m: sequence_batching: control_input \"start\": the model has INT32, the "
                "configuration FP32");
  BOOST_TEST(refused(control("x", "END", "fp32_false_true: [ 0, 1 ]")).find("one element a row")
             != std::string::npos);
  BOOST_TEST(refused(control("id", "CORRID", "data_type: TYPE_STRING")).find("TYPE_STRING")
             != std::string::npos);
  BOOST_TEST(refused(control("end", "END", "int32_false_true: [ 0, 1 ]"))
             == "model m: sequence_batching: the file has no input \"end\"");
  BOOST_TEST(refused("oldest {}").find("max_candidate_sequences: expected 1") != std::string::npos);
  BOOST_TEST(refused("iterative_sequence: true").find("not supported") != std::string::npos);
  BOOST_TEST(refused("state [ { input_name: \"sum\" output_name: \"new_sum\" dims: [ -1 ] } ]")
                 .find("dims: expected sizes of at least 1, got -1")
             != std::string::npos);
  BOOST_TEST(refused("state [ { input_name: \"sum\" output_name: \"new_sum\" dims: [ 5 ] } ]")
             == "model m: sequence_batching: state \"sum\": dims: \"sum\" has [-1,4], the "
                "configuration [batch] + [5]");
  BOOST_TEST(refusal(with(state) + " dynamic_batching {}", declared).find("got more")
             != std::string::npos);
  BOOST_TEST(refusal(with(state) + " input [ { name: \"sum\" } ]", declared)
                 .find("listed as an input of the clients'")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_is_wrong_is_refused_with_its_place) {
  BOOST_TEST(refusal("max_batch_size: many").starts_with("config.pbtxt:1:17: "));
  BOOST_TEST(refusal("max_batch_size: -1")
             == "config.pbtxt: max_batch_size: expected 0 or more, got -1");
  BOOST_TEST(refusal("platform: \"tensorrt_plan\"").starts_with("config.pbtxt: platform "));
  BOOST_TEST(refusal("ensemble_scheduling { step [ { model_name: \"a\" } ] }")
             == "config.pbtxt: platform \"\": expected ensemble_scheduling and platform "
                "\"ensemble\", both or neither");
  const auto ensemble = [](const std::string& rest) {
    return refusal("platform: \"ensemble\" " + rest);
  };
  BOOST_TEST(ensemble("").ends_with("both or neither"));
  BOOST_TEST(ensemble("ensemble_scheduling { step [ {} ] }")
             == "config.pbtxt: ensemble_scheduling: a step has no model_name");
  BOOST_TEST(
      ensemble("ensemble_scheduling { step [ { model_name: \"a\" model_version: -2 } ] }")
      == "config.pbtxt: ensemble_scheduling: model_version: expected -1 or a number, got -2");
  BOOST_TEST(ensemble("ensemble_scheduling { } dynamic_batching { }")
             == "config.pbtxt: an ensemble does not batch: dynamic_batching is for its models");
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

BOOST_AUTO_TEST_CASE(holds_the_states_that_sequences_begin_with) {
  tensor_signature s{"s", dtype::float32, {2}, {}, {}, false, {}};
  auto t = s;
  t.name = "t";
  const auto rules = [&](const std::string& file) {
    auto config = parse_model_config(
        "sequence_batching { state [ { input_name: \"s\" output_name: \"t\" dims: [ 2 ]"
        " initial_state [ { data_file: \""
            + file + "\" } ] } ] }",
        "config.pbtxt");
    return config ? configure({"m", path, std::move(*config), {}}, {{s}, {t}, 0}, "", {})
                  : result<configured_model>{propagate(std::move(config))};
  };
  const float values[] = {1.5, -2};
  write("initial_state/first", {reinterpret_cast<const char*>(values), sizeof values});
  write("initial_state/short", "abc");
  const auto made = rules("first");
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  BOOST_TEST(elements_of<float>(made->sequences->states.at(0).initial.data)[1] == -2);
  BOOST_TEST(rules("short").error().text.find("expected a file of 8 bytes") != std::string::npos);
  BOOST_TEST(rules("gone").error().text.find("expected a file of 8 bytes") != std::string::npos);
  BOOST_TEST(rules("../config.pbtxt").error().text.find("expected a name") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bounds_the_states_of_a_sequence_together) {
  const auto free = [](const char* name) {
    return tensor_signature{name, dtype::float32, {-1}, {""}, {}, false, {}};
  };
  auto config = parse_model_config(
      "sequence_batching { state [ { input_name: \"a\" output_name: \"b\" dims: [ 2 ] }, "
      "{ input_name: \"c\" output_name: \"d\" dims: [ 268435455 ] } ] }",
      "config.pbtxt");
  BOOST_REQUIRE(config);
  const auto made = configure({"m", path, std::move(*config), {}},
                              {{free("a"), free("c")}, {free("b"), free("d")}, 0}, "", {});
  BOOST_REQUIRE(!made);
  BOOST_TEST(
      made.error().text
      == "model m: sequence_batching: state \"c\": shape [268435455] has 268435455 elements: "
         "at most 268435440 are accepted");
}

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
