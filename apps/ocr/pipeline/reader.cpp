#include "apps/ocr/pipeline/reader.hpp"

#include "apps/ocr/pipeline/computed.hpp"
#include "apps/ocr/pipeline/sheet.hpp"
#include "apps/ocr/vision/line_input.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe::ocr {
namespace {

class reader : public std::enable_shared_from_this<reader> {
public:
  reader(std::shared_ptr<const equipment> with, job request,
         std::function<void(stage_context&)> leave)
      : with_(std::move(with)), job_(std::move(request)), leave_(std::move(leave)) {}

  void decode(stage_context& context) {
    started_ = context.now();
    auto outcome = std::make_shared<result<void>>();
    context.offload([self = shared_from_this(),
                     outcome] { *outcome = computed([&] { return self->open_images(); }); },
                    [self = shared_from_this(), outcome](stage_context& back) {
                      self->lap(back, "decode_ms");
                      if (self->goes_on(back, *outcome))
                        self->detect(back);
                    });
  }

private:
  [[nodiscard]] const pipeline_options& options() const noexcept { return with_->options; }

  [[nodiscard]] result<void> open_images() {
    auto files = unpack_strings(job_.request().inputs.front().value);
    if (!files)
      return propagate(std::move(files));
    for (auto file : *files) {
      if (job_.cancelled())
        return fail(errc::cancelled, "the request was cancelled");
      auto decoded = decode_image(std::as_bytes(std::span{file}), options().images);
      if (!decoded)
        return fail(decoded.error().code, "input image, element {}: {}", sheets_.size(),
                    decoded.error().text);
      sheets_.push_back({make_page(std::move(*decoded), options().pages), {}});
    }
    return {};
  }

  void detect(stage_context& context) {
    std::vector<errand> errands;
    for (auto& each : sheets_)
      errands.push_back(
          {[this, &each] { return detection_input(each.view, options().pages); },
           [this, &each](const tensor& map) { return cut_out(each, map, options().boxes); }});
    run(context, with_->detection, std::move(errands), "detect_ms", &reader::classify);
  }

  void classify(stage_context& context) {
    std::vector<snippet*> all;
    for (auto& each : sheets_)
      for (auto& one : each.snippets)
        all.push_back(&one);
    std::vector<errand> errands;
    for (std::size_t first = 0; first < all.size(); first += options().rows_per_request) {
      auto rest = all.begin() + static_cast<std::ptrdiff_t>(first);
      std::vector<snippet*> group(rest, rest + group_size(all.end() - rest));
      errands.push_back({[group] {
                           std::vector<const image*> crops;
                           for (const auto* each : group)
                             crops.push_back(&each->pixels);
                           return line_input(crops, direction_width);
                         },
                         [group](const tensor& output) { return note_directions(group, output); }});
    }
    run(context, with_->direction, std::move(errands), "classify_ms", &reader::recognise);
  }

  void recognise(stage_context& context) {
    auto attempts = plan_attempts(sheets_, options().sure_direction);
    std::vector<errand> errands;
    for (auto first = attempts.begin(); first != attempts.end();) {
      auto last = std::find_if(first, first + group_size(attempts.end() - first),
                               [&](const attempt& each) { return each.width != first->width; });
      std::vector<attempt> group(first, last);
      errands.push_back({[group] { return draw(group); },
                         [this, group](const tensor& output) {
                           return note_readings(group, output, with_->symbols, options().text);
                         }});
      first = last;
    }
    run(context, with_->recognition, std::move(errands), "recognise_ms", &reader::answer);
  }

  void answer(stage_context& context) {
    std::vector<text_line> lines;
    for (std::size_t i = 0; i < sheets_.size(); ++i)
      add_lines(sheets_[i], static_cast<std::int32_t>(i), options().min_score, lines);
    auto outputs = to_outputs(lines, job_.request().outputs);
    if (!goes_on(context, outputs))
      return;
    inference_response made;
    made.model_name = options().name;
    made.id = job_.request().id;
    made.parameters = std::move(timings_);
    made.outputs = std::move(*outputs);
    job_.reply(std::move(made));
    leave_(context);
  }

  [[nodiscard]] std::ptrdiff_t group_size(std::ptrdiff_t left) const noexcept {
    return std::min(left, static_cast<std::ptrdiff_t>(options().rows_per_request));
  }

  // The errands refer to this reader and its sheets, which the step keeps alive through its parent.
  void run(stage_context& context, const network& model, std::vector<errand> errands,
           const char* timing, void (reader::*next)(stage_context&)) {
    run_errands(context, std::shared_ptr<const job>(shared_from_this(), &job_), model,
                std::move(errands), options().errands_at_once,
                [this, timing, next](stage_context& back, const result<void>& outcome) {
                  lap(back, timing);
                  if (goes_on(back, outcome))
                    (this->*next)(back);
                });
  }

  // Ends the request on a failure.
  template <class T>
  [[nodiscard]] bool goes_on(stage_context& context, const result<T>& outcome) {
    if (outcome)
      return true;
    job_.fail(outcome.error());
    leave_(context);
    return false;
  }

  void lap(stage_context& context, const char* name) {
    auto now = context.now();
    timings_[name] = std::chrono::duration<double, std::milli>(now - started_).count();
    started_ = now;
  }

  std::shared_ptr<const equipment> with_;
  job job_;
  std::function<void(stage_context&)> leave_;
  std::vector<sheet> sheets_;
  protocol::parameter_map timings_;
  time_point started_{};
};

} // namespace

void read_text(stage_context& context, std::shared_ptr<const equipment> with, job request,
               std::function<void(stage_context&)> leave) {
  std::make_shared<reader>(std::move(with), std::move(request), std::move(leave))->decode(context);
}

} // namespace troupe::ocr
