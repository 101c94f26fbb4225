#include "apps/ocr/pipeline/stage.hpp"

#include <deque>
#include <utility>

namespace troupe::ocr {

// Outlives the stage while requests are on their way. Touched on the stage's thread alone.
struct text_stage::desk : std::enable_shared_from_this<desk> {
  struct visitor {
    job request;
    std::size_t images;
  };

  explicit desk(std::shared_ptr<const equipment> with) : tools(std::move(with)) {}

  void admit_next(stage_context& context) {
    while (!waiting.empty()) {
      auto images = waiting.front().images;
      if (active > 0 && active + images > tools->options.max_active_images)
        return;
      auto request = std::move(waiting.front().request);
      waiting.pop_front();
      if (request.cancelled()) {
        request.fail({errc::cancelled, "the request was cancelled", 0});
        continue;
      }
      active += images;
      read_text(context, tools, std::move(request),
                [self = shared_from_this(), images](stage_context& back) {
                  self->active -= images;
                  self->admit_next(back);
                });
    }
  }

  std::shared_ptr<const equipment> tools;
  std::deque<visitor> waiting;
  std::size_t active = 0;
};

text_stage::text_stage(std::shared_ptr<const equipment> with)
    : desk_(std::make_shared<desk>(std::move(with))) {}

text_stage::~text_stage() = default;

void text_stage::on_request(stage_context& context, job request) {
  const auto& options = desk_->tools->options;
  auto images =
      static_cast<std::size_t>(element_count(request.request().inputs.front().value.dims));
  if (images > options.max_images) {
    request.fail({errc::invalid_argument,
                  fmt::format("input image: {} images, at most {} are taken in one request", images,
                              options.max_images),
                  0});
    return;
  }
  if (desk_->waiting.size() >= options.max_waiting) {
    constexpr std::uint32_t soon_ms = 500;
    request.fail(
        {errc::resource_exhausted,
         fmt::format("model {}: {} requests wait already", options.name, desk_->waiting.size()),
         soon_ms});
    return;
  }
  desk_->waiting.push_back({std::move(request), images});
  desk_->admit_next(context);
}

} // namespace troupe::ocr
