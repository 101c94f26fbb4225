// Declared pipelines on the real actors, in virtual time: models are the identity, y = x of [rows,
// 2].

#include "tests/actors/actor_fixture.hpp"
#include "tests/actors/composing.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const error broken{errc::internal, "broken on purpose"};

const std::string each_row = R"(
inputs = ["in"]
outputs = ["out"]
[[step]]
name = "each"
model = "m"
inputs = { x = "in" }
outputs = { y = "out" }
each_row_of = ["in"]
)";

struct pipeline_fixture : actor_fixture {
  /// "ok", or the error's text.
  std::string compose(const std::string& name, const std::string& text,
                      std::map<std::string, composition::part> brings = {}) {
    std::string said;
    auto asked = std::make_shared<load_request>();
    asked->name = name;
    asked->load = pipeline_of(text, std::move(brings));
    asked->done = [&](const result<void>& outcome) {
      said = outcome ? "ok" : outcome.error().text;
    };
    tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{asked});
    scheduler.run();
    return said;
  }

  std::shared_ptr<job::impl> ask(const std::string& name, std::int64_t rows = 1, float value = 1,
                                 duration deadline = 60s, std::uint32_t priority = 0) {
    auto asked = make(name, rows, value, deadline, priority);
    asked->request.model_name = "p";
    asked->request.inputs[0].name = "in";
    hand_on(*shared, shared->router, asked);
    scheduler.run();
    return asked;
  }

  void work_all() {
    while (work_once())
      ;
  }

  std::optional<bool> ready(const std::string& model) {
    std::optional<bool> said;
    query asked;
    asked.of = query::what::ready;
    asked.about = {model, {}};
    asked.ready = [&](const result<bool>& answer) {
      if (answer)
        said = *answer;
    };
    tell<catalog_actor>(*shared, shared->catalog, query_atom_v,
                        query_ptr{std::make_shared<query>(asked)});
    scheduler.run();
    return said;
  }

  std::string text_of(const std::string& name) const {
    const auto& part = answers.at(name);
    return part ? "ok" : part.error().text;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(pipelines, pipeline_fixture)

BOOST_AUTO_TEST_CASE(call_their_models_and_answer_as_one) {
  start(latency);
  BOOST_TEST(compose("p", twice_through_m) == "ok");
  ask("a", 3, 7);
  BOOST_TEST(shared->budget->requests() == 1u);
  work_all();
  BOOST_REQUIRE(outcome("a") == "ok");
  const auto& answer = *answers.at("a");
  BOOST_TEST(answer.model_name == "p");
  BOOST_REQUIRE(answer.outputs.size() == 1u);
  BOOST_TEST(answer.outputs[0].name == "out");
  BOOST_TEST(answer.outputs[0].value.dims[0] == 3);
  BOOST_TEST(elements_of<float>(answer.outputs[0].value.data)[5] == 7.0F);
}

BOOST_AUTO_TEST_CASE(send_rows_together_and_join_them_in_order) {
  start(latency);
  BOOST_TEST(compose("p", "max_in_flight = 2\n" + each_row) == "ok");
  auto asked = make("a", 3);
  asked->request.model_name = "p";
  const float values[]{1, 1, 2, 2, 3, 3};
  asked->request.inputs[0] = {
      "in", tensor{dtype::float32, {3, 2}, copy_of(std::as_bytes(std::span{values}))}, {}};
  hand_on(*shared, shared->router, asked);
  scheduler.run();
  BOOST_TEST(shared->live->count() == 3u, "the request and two of its calls");
  work_all();
  BOOST_REQUIRE(outcome("a") == "ok");
  const auto got = elements_of<float>(answers.at("a")->outputs[0].value.data);
  BOOST_TEST(std::vector<float>(got.begin(), got.end()) == std::vector<float>(values, values + 6),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(load_the_models_they_call) {
  boot();
  const auto load_m = [this]() -> result<std::vector<loaded_model>> {
    std::vector<loaded_model> made(1);
    made[0].version = "1";
    made[0].on.push_back(identity_on(device, {}));
    made[0].io = made[0].on[0]->io();
    made[0].io.max_batch_size = 8;
    made[0].settings.batching = latency;
    return made;
  };
  BOOST_TEST(compose("p", each_row)
             == "p.toml: step \"each\": model m: not found: there is no model "
                "repository");
  BOOST_TEST(!ready("p").has_value());
  BOOST_TEST(compose("p", each_row, {{"m", {load_m, "m.onnx"}}}) == "ok");
  BOOST_TEST(ready("p").value());
  ask("a");
  work_all();
  BOOST_TEST(outcome("a") == "ok");
  BOOST_TEST(compose("p", each_row, {{"m", {load_m, "m.onnx"}}}) == "ok", "again, in its place");
  BOOST_TEST(compose("q", each_row, {{"m", {load_m, "n.onnx"}}})
             == "p.toml: model m is served already, from m.onnx");
}

BOOST_AUTO_TEST_CASE(may_call_each_other_but_not_in_a_circle) {
  start(latency);
  const auto calling = [](const std::string& model) {
    return "inputs = [\"in\"]\noutputs = [\"out\"]\n[[step]]\nmodel = \"" + model
           + "\"\ninputs = [\"in\"]\noutputs = [\"out\"]\n";
  };
  BOOST_TEST(compose("inner", each_row) == "ok");
  BOOST_TEST(compose("p", calling("inner")) == "ok");
  ask("a", 2);
  work_all();
  BOOST_TEST(outcome("a") == "ok");
  BOOST_TEST(compose("inner", calling("p")) == "p.toml: step \"p\": model p calls inner in turn");
  BOOST_TEST(compose("self", calling("self"))
             == "p.toml: step \"self\": model self calls self in turn");
  BOOST_TEST(compose("x", calling("y"), {{"y", {pipeline_of(calling("x")), "y.toml"}}})
             == "p.toml: step \"y\": p.toml: step \"x\": model x calls y in turn");
}

BOOST_AUTO_TEST_CASE(fail_as_a_whole_with_the_step_that_failed) {
  start(latency, 1);
  BOOST_TEST(compose("p", each_row) == "ok");
  ask("a", 8);
  const auto before = work->run_rows.size();
  work_once(broken);
  while (outcome("a").empty() && work_once(broken))
    ;
  BOOST_TEST(outcome("a") == "INTERNAL");
  BOOST_TEST(text_of("a").starts_with("step \"each\": "));
  BOOST_TEST(shared->live->count() == 0u, "its other calls have left the queue");
  work_all();
  BOOST_TEST(work->run_rows.size() - before <= 4u, "and do not run");
}

BOOST_AUTO_TEST_CASE(end_with_a_cancelled_request) {
  start(latency, 1);
  BOOST_TEST(compose("p", each_row) == "ok");
  const auto asked = ask("a", 8);
  BOOST_TEST(shared->live->count() == 9u);
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, asked);
  scheduler.run();
  BOOST_TEST(outcome("a") == "CANCELLED");
  BOOST_TEST(shared->live->count() == 0u);
  BOOST_TEST(shared->budget->requests() == 0u);
  work_all();
  ask("b");
  work_all();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(end_at_the_deadline_of_their_request) {
  start(latency, 1);
  BOOST_TEST(compose("p", each_row) == "ok");
  ask("a", 8, 1, 50ms);
  pass(60ms);
  BOOST_TEST(outcome("a") == "DEADLINE_EXCEEDED");
  BOOST_TEST(shared->live->count() == 0u);
  work_all();
}

BOOST_AUTO_TEST_CASE(get_through_when_requests_fill_the_whole_admission) {
  parts.with.max_requests = 4;
  start(latency, 2);
  BOOST_TEST(compose("p", twice_through_m) == "ok");
  for (const auto* name : {"a", "b", "c", "d"})
    ask(name, 5);
  BOOST_TEST(!shared->budget->admit(1).has_value());
  work_all();
  for (const auto* name : {"a", "b", "c", "d"})
    BOOST_TEST(outcome(name) == "ok");
}

BOOST_AUTO_TEST_CASE(work_on_so_many_requests_at_once_in_the_order_of_priority) {
  start(latency, 1);
  BOOST_TEST(compose("p", "max_active = 1\n" + each_row) == "ok");
  ask("first");
  ask("ordinary");
  ask("urgent", 1, 1, 60s, 1);
  const auto gone = ask("gone");
  BOOST_TEST(shared->live->count() == 5u, "one of four makes calls");
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, gone);
  work_once();
  BOOST_TEST(outcome("first") == "ok");
  work_once();
  BOOST_TEST(outcome("urgent") == "ok");
  BOOST_TEST(outcome("ordinary") == "");
  work_all();
  BOOST_TEST(outcome("ordinary") == "ok");
  BOOST_TEST(outcome("gone") == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(pass_their_priority_on_to_their_calls) {
  start(latency, 1);
  BOOST_TEST(compose("p", each_row) == "ok");
  ask("running");
  ask("ordinary");
  ask("other");
  ask("urgent", 1, 1, 60s, 1);
  for (int i = 0; i < 3; ++i) // two batches are on the device already
    work_once();
  BOOST_TEST(outcome("urgent") == "ok");
  BOOST_TEST(outcome("other") == "");
  work_all();
}

BOOST_AUTO_TEST_CASE(are_not_ready_without_their_models) {
  start(latency);
  BOOST_TEST(compose("p", each_row) == "ok");
  unload();
  BOOST_TEST(ready("p").value() == false);
  ask("a");
  BOOST_TEST(outcome("a") == "UNAVAILABLE");
  BOOST_TEST(text_of("a") == "step \"each\": model m: not found");
  load({latency});
  BOOST_TEST(ready("p").value());
  ask("b");
  work_all();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(finish_what_they_have_when_they_are_replaced_or_unloaded) {
  start(latency);
  BOOST_TEST(compose("p", twice_through_m) == "ok");
  ask("a", 3);
  BOOST_TEST(compose("p", each_row) == "ok");
  ask("b", 3);
  bool unloaded = false;
  auto gone = std::make_shared<load_request>();
  gone->name = "p";
  gone->done = [&](const result<void>& outcome) { unloaded = outcome.has_value(); };
  tell<catalog_actor>(*shared, shared->catalog, unload_atom_v, load_request_ptr{gone});
  scheduler.run();
  BOOST_TEST(unloaded);
  work_all();
  BOOST_TEST(outcome("a") == "ok");
  BOOST_TEST(outcome("b") == "ok");
  ask("c");
  BOOST_TEST(outcome("c") == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(answer_what_they_had_when_their_actor_dies) {
  start(latency);
  BOOST_TEST(compose("p", each_row) == "ok");
  const auto asked = ask("a");
  kill<hosted_stage>(asked->where->entry);
  scheduler.run();
  work_all(); // its call ends, and nobody is there to go on
  BOOST_TEST(outcome("a") == "INTERNAL");
  pass(1s);
  ask("b");
  work_all();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(that_contradict_their_models_do_not_load) {
  start(latency);
  BOOST_TEST(compose("p", "inputs = [\"in\"]\noutputs = [\"out\"]\n[[step]]\nmodel = \"m\"\n"
                          "inputs = { z = \"in\" }\noutputs = { y = \"out\" }")
             == "p.toml: step \"m\": model m has no input \"z\"");
  ask("a");
  BOOST_TEST(outcome("a") == "NOT_FOUND");
}

BOOST_AUTO_TEST_SUITE_END()
