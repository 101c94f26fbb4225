#include "actors/split.hpp"

#include "actors/hand_on.hpp"
#include "actors/served_model.hpp"
#include "runtime/batching/join_rows.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace troupe::actors {

namespace {

result<tensor> joined(const std::vector<std::optional<inference_response>>& parts,
                      std::size_t output) {
  std::vector<const tensor*> values;
  for (const auto& part : parts)
    values.push_back(&part->outputs[output].value);
  auto whole = batching::join_rows(values);
  if (!whole)
    return fail(errc::internal, "output \"{}\" of a split request: {}",
                parts.front()->outputs[output].name, whole.error().text);
  return whole;
}

/// Where the answers of the parts come together. They come from any thread.
class joint {
public:
  joint(commons_ptr shared, job_ptr whole, std::size_t parts)
      : shared_(std::move(shared)), whole_(std::move(whole)), answers_(parts), missing_(parts) {}

  void answered(std::size_t index, const job::impl* part, response_part answer) {
    {
      std::lock_guard lock(mutex_);
      if (over_)
        return;
      if (answer) {
        answers_[index] = std::move(*answer);
        if (part)
          note(part->at);
        if (--missing_ > 0)
          return;
      }
      over_ = true;
    }
    if (answer) {
      // Not when it was accepted: whoever ends it early may be reading that.
      whole_->at.input = at_.input;
      whole_->at.started = at_.started;
      whole_->at.ended = at_.ended;
      whole_->answer(together());
    } else {
      whole_->answer(tl::unexpected<error>{answer.error()});
      tell<watchdog_actor>(*shared_, shared_->watchdog, cancel_atom_v, whole_); // its other parts
    }
  }

private:
  void note(const timestamps& of) {
    const bool first = at_.ended == time_point{};
    at_.input = first ? of.input : std::min(at_.input, of.input);
    at_.started = first ? of.started : std::min(at_.started, of.started);
    at_.ended = std::max(at_.ended, of.ended);
  }

  response_part together() const {
    const auto& first = *answers_.front();
    inference_response whole{first.model_name, first.model_version, first.id, first.parameters, {}};
    for (std::size_t i = 0; i < first.outputs.size(); ++i) {
      auto value = joined(answers_, i);
      if (!value)
        return propagate(std::move(value));
      whole.outputs.push_back(
          {first.outputs[i].name, std::move(*value), first.outputs[i].parameters});
    }
    return whole;
  }

  commons_ptr shared_;
  job_ptr whole_;
  std::mutex mutex_;
  std::vector<std::optional<inference_response>> answers_;
  std::size_t missing_;
  bool over_ = false;
  timestamps at_;
};

} // namespace

std::vector<job_ptr> split(const commons_ptr& shared, const job_ptr& whole, std::int64_t most) {
  const auto count = static_cast<std::size_t>((whole->rows + most - 1) / most);
  const auto together = std::make_shared<joint>(shared, whole, count);
  std::vector<job_ptr> parts;
  parts.reserve(count);
  for (std::int64_t first = 0; first < whole->rows; first += most) {
    const auto rows = std::min(most, whole->rows - first);
    const auto& asked = whole->request;
    inference_request request;
    request.model_name = asked.model_name;
    request.model_version = asked.model_version;
    request.id = asked.id;
    request.parameters = asked.parameters;
    request.outputs = asked.outputs;
    request.priority = asked.priority;
    request.deadline = asked.deadline;
    for (const auto& input : asked.inputs)
      request.inputs.push_back(
          {input.name, batching::rows_of(input.value, first, rows), input.parameters});
    const auto self = std::make_shared<std::weak_ptr<job::impl>>();
    auto made = job::impl::make(
        std::move(request),
        [together, self, index = parts.size()](response_part answer, bool) {
          // An error may come before `self` is set; an answer does not.
          const auto part = answer ? self->lock() : nullptr;
          together->answered(index, part.get(), std::move(answer));
        },
        whole->units && whole->units->join() ? whole->units : nullptr, shared->live,
        whole->deadline, whole);
    *self = made;
    made->internal = true; // the whole is what counts
    made->resolve(whole->model);
    made->where = whole->where;
    made->postprocess = whole->postprocess;
    made->rows = rows;
    made->key = whole->key;
    made->lengths = whole->lengths;
    made->run_dims = whole->run_dims;
    for (auto& dims : made->run_dims)
      dims[0] = rows;
    parts.push_back(std::move(made));
  }
  return parts;
}

} // namespace troupe::actors
