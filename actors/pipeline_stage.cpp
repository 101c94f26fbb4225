#include "actors/pipeline_stage.hpp"

#include "actors/job.hpp"
#include "actors/request_lengths.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace troupe::actors {

namespace {

constexpr std::size_t joined_at_once = std::size_t{1} << 16; ///< bytes; more goes to the pool

std::uint32_t order_of(std::uint32_t priority) noexcept {
  return priority == 0 ? std::numeric_limits<std::uint32_t>::max() : priority;
}

// A step of a sequence is one for the models as well; rows that were cut are not.
void pass_on_sequence(const inference_request& from, inference_request& to) {
  for (const auto* key : {"sequence_id", "sequence_start", "sequence_end"})
    if (const auto at = from.parameters.find(key); at != from.parameters.end())
      to.parameters.insert(*at);
}

// Why nobody waits for a request any more that says it is `cancelled`.
error over(const job& which) {
  if (which.held()->registry->now() >= which.held()->deadline)
    return {errc::deadline_exceeded, "the deadline of the request is over"};
  return {errc::cancelled, "the request was cancelled"};
}

// Clients know the pipeline, not its models: one that is gone is not what they asked for.
error failed_in(const pipeline::plan_step& step, const error& why) {
  return {why.code == errc::not_found ? errc::unavailable : why.code,
          fmt::format("step \"{}\": {}", step.name, why.text), why.retry_after_ms};
}

} // namespace

/// A request that is worked on.
class pipeline_stage::flight {
public:
  flight(job request, pipeline::run begun) : asked(std::move(request)), at(std::move(begun)) {}

  job asked;
  pipeline::run at;
  bool over = false;
};

void pipeline_stage::on_request(stage_context& context, job request) {
  const auto level = order_of(request.request().priority);
  waiting_.emplace(turn{level, arrivals_++}, std::move(request));
  if (waiting_.size() >= sweep_at_) {
    // Requests that are over gave their units back: what they hold must not add up.
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (!at->second.cancelled()) {
        ++at;
        continue;
      }
      at->second.fail(over(at->second));
      at = waiting_.erase(at);
    }
    sweep_at_ = std::max<std::size_t>(64, 2 * waiting_.size());
  }
  begin_waiting(context);
}

// Not from within itself: requests that end as they begin would pile up on the thread's stack.
void pipeline_stage::begin_waiting(stage_context& context) {
  if (beginning_)
    return;
  beginning_ = true;
  while (!waiting_.empty() && active_ < plan_->max_active) {
    auto next = waiting_.extract(waiting_.begin());
    begin(context, std::move(next.mapped()));
  }
  beginning_ = false;
}

void pipeline_stage::begin(stage_context& context, job request) try {
  if (request.cancelled())
    return request.fail(over(request));
  std::vector<std::optional<tensor>> inputs;
  for (const auto& input : request.request().inputs)
    inputs.push_back(left_out(input) ? std::nullopt : std::optional{input.value});
  std::vector<std::string> wanted;
  for (const auto& output : request.request().outputs)
    wanted.push_back(output.name);
  auto begun = pipeline::run::begin(plan_, std::move(inputs), wanted);
  if (!begun)
    return request.fail(begun.error());
  auto made = std::make_shared<flight>(std::move(request), std::move(*begun));
  ++active_;
  advance(context, made);
} catch (const std::exception& thrown) {
  request.fail({errc::internal, thrown.what()});
}

// An exception is the request's, not the stage's: others would end with it.
template <class Work>
void pipeline_stage::guarded(stage_context& context, flight& of, Work work) {
  if (of.over)
    return;
  try {
    if (result<void> ok = work(); !ok)
      end(context, of, std::move(ok));
  } catch (const std::exception& thrown) {
    if (!of.over)
      end(context, of, fail(errc::internal, "{}", thrown.what()));
  }
}

// Goes as far as it can without an answer.
void pipeline_stage::advance(stage_context& context, const std::shared_ptr<flight>& of) {
  guarded(context, *of, [&]() -> result<void> {
    if (of->asked.cancelled())
      return tl::unexpected<error>{over(of->asked)};
    while (auto work = of->at.next_join())
      if (auto ok = join(context, of, std::move(*work)); !ok)
        return ok;
    if (of->at.done())
      end(context, *of, {});
    else
      call(context, of);
    return {};
  });
}

void pipeline_stage::call(stage_context& context, const std::shared_ptr<flight>& of) {
  while (auto next = of->at.next()) {
    const auto& step = plan_->steps[next->step];
    inference_request request;
    request.model_name = step.model;
    request.model_version = step.version;
    for (auto& input : next->inputs)
      request.inputs.push_back({std::move(input.name), std::move(input.value), {}});
    if (!step.fans_out)
      pass_on_sequence(of->asked.request(), request);
    for (const auto& output : step.outputs)
      if (!output.port.empty())
        request.outputs.push_back({output.port, {}});
    context.submit(
        of->asked, std::move(request),
        [this, of, step = next->step, part = next->part](stage_context& back, response_part got) {
          answered(back, of, step, part, std::move(got));
        });
  }
}

void pipeline_stage::answered(stage_context& context, const std::shared_ptr<flight>& of,
                              std::size_t step, std::size_t part, response_part got) {
  guarded(context, *of, [&]() -> result<void> {
    if (!got)
      return tl::unexpected<error>{failed_in(plan_->steps[step], got.error())};
    std::vector<pipeline::named_value> outputs;
    for (auto& output : got->outputs)
      outputs.push_back({std::move(output.name), std::move(output.value)});
    return of->at.answered(step, part, std::move(outputs));
  });
  advance(context, of);
}

// One step's answers. Large ones are joined on the pool.
result<void> pipeline_stage::join(stage_context& context, const std::shared_ptr<flight>& of,
                                  pipeline::join_work work) {
  if (work.bytes() <= joined_at_once) {
    auto outputs = work.joined();
    if (!outputs)
      return propagate(std::move(outputs));
    return of->at.joined(work.step, std::move(*outputs));
  }
  using outcome = result<std::vector<tensor>>;
  auto made = std::make_shared<outcome>(fail(errc::internal, "not joined"));
  auto parts = std::make_shared<pipeline::join_work>(std::move(work));
  context.offload(
      [parts, made] {
        try {
          *made = parts->joined();
        } catch (const std::exception& thrown) {
          *made = fail(errc::internal, "{}", thrown.what());
        }
      },
      [this, of, made, parts](stage_context& back) {
        guarded(back, *of, [&]() -> result<void> {
          if (!*made)
            return propagate(*made);
          return of->at.joined(parts->step, std::move(**made));
        });
        advance(back, of);
      });
  return {};
}

void pipeline_stage::end(stage_context& context, flight& of, result<void> outcome) {
  of.over = true;
  --active_;
  if (outcome) {
    inference_response answer;
    for (auto& output : of.at.outputs())
      answer.outputs.push_back({std::move(output.name), std::move(output.value), {}});
    of.asked.reply(std::move(answer));
  } else {
    of.asked.fail(outcome.error());
    context.abandon(of.asked); // its other calls
  }
  begin_waiting(context);
}

} // namespace troupe::actors
