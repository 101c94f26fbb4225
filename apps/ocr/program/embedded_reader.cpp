#include "apps/ocr/pipeline/pipeline.hpp"
#include "apps/ocr/program/exchange.hpp"
#include "apps/ocr/program/reading_service.hpp"

#include <utility>

namespace troupe::ocr {
namespace {

class embedded_reader final : public reading_service {
public:
  embedded_reader(std::unique_ptr<runtime> started, std::string model)
      : runtime_(std::move(started)), model_(std::move(model)) {}

  std::future<result<page_text>> read(std::string file) override {
    auto promise = std::make_shared<std::promise<result<page_text>>>();
    auto answer = promise->get_future();
    auto request = request_for(model_, std::move(file));
    if (!request)
      promise->set_value(propagate(std::move(request)));
    else
      runtime_->infer(std::move(*request), [promise](response_part part) {
        promise->set_value(std::move(part).and_then(text_of));
      });
    return answer;
  }

private:
  std::unique_ptr<runtime> runtime_;
  std::string model_;
};

} // namespace

result<std::unique_ptr<reading_service>>
make_embedded_reader(const std::filesystem::path& repository, const std::string& device) {
  options with;
  with.devices = {device};
  with.model_repository = repository;
  with.load_all = false;
  auto started = runtime::start(std::move(with));
  if (!started)
    return propagate(std::move(started));
  const pipeline_options pipeline;
  for (const auto& model : {pipeline.detection, pipeline.direction, pipeline.recognition})
    if (auto loaded = (*started)->load(model); !loaded)
      return propagate(std::move(loaded));
  if (auto registered = register_pipeline(**started, pipeline); !registered)
    return propagate(std::move(registered));
  return std::make_unique<embedded_reader>(std::move(*started), pipeline.name);
}

} // namespace troupe::ocr
