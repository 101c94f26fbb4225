#include "apps/ocr/pipeline/errands.hpp"

#include "apps/ocr/pipeline/computed.hpp"

#include <algorithm>
#include <utility>

namespace troupe::ocr {
namespace {

// Shared by the callbacks of one step. Touched on the stage's thread alone, but for the errands'
// functions and what they return, which its own chain of callbacks carries from the pool to here.
class step : public std::enable_shared_from_this<step> {
public:
  step(std::shared_ptr<const job> parent, network with, std::vector<errand> errands,
       std::function<void(stage_context&, result<void>)> done)
      : parent_(std::move(parent)), network_(std::move(with)), errands_(std::move(errands)),
        done_(std::move(done)) {}

  void begin(stage_context& context, std::size_t at_once) {
    if (errands_.empty())
      return end(context, {});
    for (auto count = std::min(at_once, errands_.size()); count > 0; --count)
      prepare_next(context);
  }

private:
  void prepare_next(stage_context& context) {
    if (!done_ || next_ == errands_.size())
      return;
    auto* current = &errands_[next_++];
    auto input = std::make_shared<result<tensor>>();
    context.offload(
        [self = shared_from_this(), current, input] {
          *input = computed([&] { return result<tensor>{current->prepare()}; });
        },
        [self = shared_from_this(), current, input](stage_context& back) {
          self->submit(back, *current, *input);
        });
  }

  void submit(stage_context& context, const errand& current, result<tensor>& input) {
    if (stopped(context, input))
      return;
    inference_request request;
    request.model_name = network_.name;
    request.inputs.push_back({network_.input, std::move(*input), {}});
    request.outputs.push_back({network_.output, {}});
    context.submit(*parent_, std::move(request),
                   [self = shared_from_this(), &current](stage_context& back, response_part part) {
                     self->digest(back, current, std::move(part));
                   });
  }

  void digest(stage_context& context, const errand& current, response_part part) {
    if (stopped(context, part))
      return;
    auto answer = std::make_shared<inference_response>(std::move(*part));
    auto outcome = std::make_shared<result<void>>();
    context.offload(
        [self = shared_from_this(), &current, answer, outcome] {
          *outcome = computed([&] { return self->digest_output(current, *answer); });
        },
        [self = shared_from_this(), outcome](stage_context& back) {
          self->finish(back, *outcome);
        });
  }

  [[nodiscard]] result<void> digest_output(const errand& current,
                                           const inference_response& answer) const {
    auto found = std::find_if(answer.outputs.begin(), answer.outputs.end(),
                              [&](const auto& output) { return output.name == network_.output; });
    if (found == answer.outputs.end())
      return fail(errc::internal, "model {} answered without its output {}", network_.name,
                  network_.output);
    return current.digest(found->value);
  }

  void finish(stage_context& context, result<void>& outcome) {
    if (stopped(context, outcome))
      return;
    if (++finished_ == errands_.size())
      end(context, {});
    else
      prepare_next(context);
  }

  // Whether this errand goes no further: it failed, the parent is cancelled, or the step is over.
  template <class T>
  bool stopped(stage_context& context, const result<T>& outcome) {
    if (!done_)
      return true;
    if (!outcome)
      end(context, tl::unexpected<error>{outcome.error()});
    else if (parent_->cancelled())
      end(context, fail(errc::cancelled, "the request was cancelled"));
    return !done_;
  }

  void end(stage_context& context, result<void> outcome) {
    std::exchange(done_, nullptr)(context, std::move(outcome));
  }

  std::shared_ptr<const job> parent_;
  network network_;
  std::vector<errand> errands_;
  std::function<void(stage_context&, result<void>)> done_;
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
};

} // namespace

void run_errands(stage_context& context, std::shared_ptr<const job> parent, const network& with,
                 std::vector<errand> errands, std::size_t at_once,
                 std::function<void(stage_context&, result<void>)> done) {
  std::make_shared<step>(std::move(parent), with, std::move(errands), std::move(done))
      ->begin(context, at_once);
}

} // namespace troupe::ocr
