// A stage that computes, in a pipeline with a model.
//   custom_stage path/to/add/1/model.onnx path/to/pipeline.toml
// The model adds two float32 tensors [batch, 4]; the stage `row_mean` gives a tensor of its input's
// shape, each row full of that row's mean; pipeline.toml says how they hang together.

#include <troupe/troupe.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t columns = 4;

/// What outlives a stage that is made anew, shared by all of them: thread-safe.
struct counter {
  std::atomic<int> requests{0};
};

class row_mean : public troupe::stage {
public:
  explicit row_mean(std::shared_ptr<counter> counts) : counts_(std::move(counts)) {}

  // Names, types and sizes have been checked against the signature. Long work goes to the pool and
  // comes back with what it made; this thread is free meanwhile.
  void on_request(troupe::stage_context& context, troupe::job request) override {
    ++counts_->requests;
    auto job = std::make_shared<troupe::job>(std::move(request));
    auto means = std::make_shared<troupe::tensor>();
    context.offload([job, means] { *means = means_of(job->request().inputs.front().value); },
                    [job, means](troupe::stage_context&) {
                      if (job->cancelled())
                        return job->fail({troupe::errc::cancelled, "nobody waits for it"});
                      troupe::inference_response answer;
                      answer.outputs.push_back({"mean", std::move(*means), {}});
                      job->reply(std::move(answer));
                    });
  }

private:
  static troupe::tensor means_of(const troupe::tensor& of) {
    const auto values = troupe::elements_of<float>(of.data);
    std::vector<float> means(values.size());
    for (std::size_t row = 0; row < values.size(); row += columns) {
      const auto all = values.subspan(row, columns);
      std::fill_n(means.begin() + static_cast<std::ptrdiff_t>(row), columns,
                  std::accumulate(all.begin(), all.end(), 0.0F) / columns);
    }
    return {troupe::dtype::float32, of.dims, troupe::copy_of(std::as_bytes(std::span{means}))};
  }

  std::shared_ptr<counter> counts_;
};

int fail(const troupe::error& why) {
  std::fprintf(stderr, "custom_stage: %s\n", troupe::to_string(why).c_str());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: custom_stage path/to/add/1/model.onnx path/to/pipeline.toml\n");
    return 2;
  }
  auto runtime = troupe::runtime::start();
  if (!runtime)
    return fail(runtime.error());
  const auto counts = std::make_shared<counter>();
  const troupe::stage_signature io{.inputs = {{"x", "FP32", {-1, columns}}},
                                   .outputs = {{"mean", "FP32", {-1, columns}}}};
  if (auto ok = (*runtime)->load("add", argv[1]); !ok)
    return fail(ok.error());
  if (auto ok = (*runtime)->add_stage("row_mean", io,
                                      [counts] { return std::make_unique<row_mean>(counts); });
      !ok)
    return fail(ok.error());
  if (auto ok = (*runtime)->load("centred", argv[2]); !ok) // after what it calls
    return fail(ok.error());

  const std::array<float, 2 * columns> values{1, 2, 3, 6, 0, 0, 4, 4};
  troupe::inference_request request;
  request.model_name = "centred";
  request.inputs.push_back({"x",
                            {.type = troupe::dtype::float32,
                             .dims = {2, columns},
                             .data = troupe::copy_of(std::as_bytes(std::span{values}))},
                            {}});
  const auto answer = (*runtime)->infer(std::move(request)).get();
  if (!answer)
    return fail(answer.error());
  const auto sums = troupe::elements_of<float>(answer->outputs.front().value.data);
  for (float sum : sums)
    std::printf("%g ", sum);
  std::printf("after %d request of the stage\n", counts->requests.load());
  const std::array<float, 2 * columns> expected{4, 5, 6, 9, 2, 2, 6, 6};
  return std::equal(sums.begin(), sums.end(), expected.begin(), expected.end()) ? 0 : 1;
}
