#include "bench/batching/subject.hpp"

#include "actors/simulation/policy_name.hpp"
#include "bench/serve/load_input.hpp"
#include "runtime/batching/join_rows.hpp"

#include <filesystem>

namespace troupe::bench {

namespace {

constexpr int warm_runs = 5; // of each size; the first of them makes the plan

batching_options options_of(const batching::policy& rule, std::int64_t max_batch) {
  using std::chrono::duration_cast;
  batching_options made;
  made.preset = rule.adapts ? "auto" : "explicit";
  made.max_batch = std::min(rule.max_rows, max_batch);
  made.min_batch = std::min(rule.min_rows, made.max_batch);
  made.max_wait = duration_cast<std::chrono::microseconds>(rule.max_wait);
  made.objective = duration_cast<std::chrono::milliseconds>(rule.objective);
  return made;
}

result<std::vector<named_tensor>> rows_of(const std::vector<named_tensor>& one, std::int64_t rows) {
  auto made = one;
  for (auto& input : made) {
    const std::vector<tensor> copies(static_cast<std::size_t>(rows), input.value);
    std::vector<const tensor*> parts;
    for (const auto& copy : copies)
      parts.push_back(&copy);
    auto joined = batching::join_rows(parts);
    if (!joined)
      return propagate(std::move(joined));
    input.value = std::move(*joined);
  }
  return made;
}

} // namespace

std::string subject_setup::name() const {
  const std::filesystem::path path{model};
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

subject::subject(std::string model, std::string policy, batching::policy rule,
                 std::unique_ptr<runtime> in)
    : model_{std::move(model)}, policy_{std::move(policy)}, rule_{rule}, in_{std::move(in)} {}

result<std::unique_ptr<subject>> subject::start(const subject_setup& with,
                                                const std::string& policy, duration objective) {
  auto rule = actors::simulation::policy_named(policy);
  if (!rule)
    return propagate(std::move(rule));
  rule->objective = rule->adapts ? objective : duration{0};
  options asked;
  asked.devices = {with.device};
  asked.max_queue_rows = with.max_queue_rows;
  asked.batching = options_of(*rule, with.max_batch);
  if (!with.capture_dir.empty())
    asked.capture_file = std::filesystem::path{with.capture_dir}
                         / (policy + (rule->objective > duration{0} ? "-slo" : "") + ".capture");
  auto in = runtime::start(asked);
  if (!in)
    return propagate(std::move(in));
  if (auto loaded = (*in)->load(with.name(), with.model); !loaded)
    return propagate(std::move(loaded));
  const auto about = (*in)->metadata(with.name());
  if (!about)
    return propagate(about);
  auto inputs = make_inputs(*about, with.shapes, with.files, with.seed);
  if (!inputs)
    return propagate(std::move(inputs));
  std::unique_ptr<subject> made{new subject{with.name(), policy, *rule, std::move(*in)}};
  made->inputs_ = std::move(*inputs);
  if (auto warm = made->warm_up(asked.batching.max_batch); !warm)
    return propagate(std::move(warm));
  return made;
}

result<void> subject::warm_up(std::int64_t most) {
  for (std::int64_t rows = 1; rows <= most; rows *= 2) {
    auto inputs = rows_of(inputs_, rows);
    if (!inputs)
      return propagate(std::move(inputs));
    for (int run = 0; run < warm_runs; ++run) {
      std::promise<response_part> answered;
      ask(*inputs, [&](response_part part) { answered.set_value(std::move(part)); });
      if (auto part = answered.get_future().get(); !part)
        return propagate(std::move(part));
    }
  }
  return {};
}

void subject::ask(std::vector<named_tensor> inputs, std::function<void(response_part)> done) {
  inference_request request;
  request.model_name = model_;
  request.inputs = std::move(inputs);
  (void)in_->infer(std::move(request), std::move(done));
}

device_work_done subject::work_done() const {
  device_work_done sum;
  for (const auto& model : in_->statistics(model_))
    for (const auto& size : model.batches) {
      sum.batches += size.compute_infer.count;
      sum.rows += size.batch_size * size.compute_infer.count;
      sum.busy += std::chrono::nanoseconds{size.compute_infer.ns};
    }
  return sum;
}

} // namespace troupe::bench
