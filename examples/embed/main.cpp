// Serves a model inside this process, with a stage of our own in front of it.
//   embed path/to/add/1/model.onnx
// The model adds two float32 tensors [batch, 4]: `sum = a + b`.

#include <troupe/troupe.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace {

using numbers = std::array<float, 4>;

troupe::named_tensor row(std::string name, const numbers& values) {
  troupe::tensor made{.type = troupe::dtype::float32,
                      .dims = {1, 4},
                      .data = troupe::copy_of(std::as_bytes(std::span{values}))};
  return {.name = std::move(name), .value = std::move(made), .parameters = {}};
}

troupe::inference_request ask(std::string model, troupe::named_tensor a, troupe::named_tensor b) {
  troupe::inference_request request;
  request.model_name = std::move(model);
  request.inputs.push_back(std::move(a));
  request.inputs.push_back(std::move(b));
  return request;
}

/// `sum = (a + b) + b`: asks the model twice and answers with the second sum.
class add_twice : public troupe::stage {
public:
  void on_request(troupe::stage_context& context, troupe::job request) override {
    if (request.request().inputs.size() != 2)
      return request.fail({troupe::errc::invalid_argument, "add_twice: takes the inputs a and b"});
    auto job = std::make_shared<troupe::job>(std::move(request));
    const auto& inputs = job->request().inputs;
    context.submit(*job, ask("add", inputs[0], inputs[1]),
                   [job](troupe::stage_context& again, troupe::response_part first) {
                     if (!first)
                       return job->fail(first.error());
                     auto sum = std::move(first->outputs.front());
                     sum.name = "a";
                     again.submit(*job, ask("add", std::move(sum), job->request().inputs[1]),
                                  [job](troupe::stage_context&, troupe::response_part second) {
                                    if (!second)
                                      return job->fail(second.error());
                                    second->model_name = "add_twice";
                                    job->reply(std::move(*second));
                                  });
                   });
  }
};

bool fail(const troupe::error& why) {
  std::fprintf(stderr, "embed: %s\n", troupe::to_string(why).c_str());
  return false;
}

bool check(troupe::runtime& runtime, const std::string& model, const numbers& expected) {
  auto answer = runtime.infer(ask(model, row("a", {1, 2, 3, 4}), row("b", {10, 20, 30, 40}))).get();
  if (!answer)
    return fail(answer.error());
  const auto sum = troupe::elements_of<float>(answer->outputs.front().value.data);
  std::printf("%-10s", model.c_str());
  for (float value : sum)
    std::printf(" %g", value);
  std::printf("\n");
  return std::equal(sum.begin(), sum.end(), expected.begin(), expected.end());
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed path/to/add/1/model.onnx\n");
    return 2;
  }
  auto runtime = troupe::runtime::start();
  if (!runtime)
    return fail(runtime.error()), 1;
  if (auto loaded = (*runtime)->load("add", argv[1]); !loaded)
    return fail(loaded.error()), 1;

  const troupe::stage_signature io{.inputs = {{"a", "FP32", {-1, 4}}, {"b", "FP32", {-1, 4}}},
                                   .outputs = {{"sum", "FP32", {-1, 4}}}};
  auto added = (*runtime)->add_stage("add_twice", io, [] { return std::make_unique<add_twice>(); });
  if (!added)
    return fail(added.error()), 1;

  const bool right =
      check(**runtime, "add", {11, 22, 33, 44}) && check(**runtime, "add_twice", {21, 42, 63, 84});
  (*runtime)->stop();
  return right ? 0 : 1;
}
