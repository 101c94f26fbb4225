#include "apps/ocr/pipeline/options.hpp"
#include "apps/ocr/program/exchange.hpp"
#include "apps/ocr/program/reading_service.hpp"
#include "clients/cpp/client.hpp"

#include <utility>

namespace troupe::ocr {
namespace {

class remote_reader final : public reading_service {
public:
  explicit remote_reader(std::unique_ptr<client::client> connected)
      : server_(std::move(connected)) {}

  std::future<result<page_text>> read(std::string file) override {
    auto promise = std::make_shared<std::promise<result<page_text>>>();
    auto answer = promise->get_future();
    auto request = request_for(pipeline_options{}.name, std::move(file));
    if (!request)
      promise->set_value(propagate(std::move(request)));
    else
      server_->infer(std::move(*request), [promise](client::response_part part) {
        promise->set_value(std::move(part).and_then(text_of));
      });
    return answer;
  }

private:
  std::unique_ptr<client::client> server_;
};

} // namespace

result<std::unique_ptr<reading_service>> make_remote_reader(const std::string& url) {
  auto connected = client::connect(url);
  if (!connected)
    return propagate(std::move(connected));
  return std::make_unique<remote_reader>(std::move(*connected));
}

} // namespace troupe::ocr
