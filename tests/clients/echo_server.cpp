// A server for tests of clients in other languages: both protocols before a service that echoes.
// Prints its two ports and serves until its standard input ends. Models: "echo"; "busy" is full;
// "slow" answers only when cancelled.

#include "protocol/msgpack/listener.hpp"
#include "protocol/rest/listener.hpp"
#include "tests/protocol/fake_service.hpp"

#include <cstdio>
#include <iostream>
#include <limits>

namespace {

using namespace troupe;

class echo_service final : public protocol::service {
public:
  result<protocol::admission> admit(std::size_t bytes) override { return fake_.admit(bytes); }
  std::shared_ptr<protocol::call> infer(protocol::inference_request request,
                                        protocol::admission units, part_fn on_part) override {
    if (request.model_name == "busy") {
      on_part(tl::unexpected<error>{error{errc::resource_exhausted, "queue is full", 250}}, true);
      return {};
    }
    if (request.model_name == "slow")
      return std::make_shared<until_cancelled>(std::move(on_part));
    return fake_.infer(std::move(request), std::move(units), std::move(on_part));
  }
  bool live() const noexcept override { return true; }
  bool ready() const noexcept override { return true; }
  void metadata(std::string model, std::string version,
                answer<protocol::model_metadata> done) override {
    fake_.metadata(std::move(model), std::move(version), std::move(done));
  }
  void model_ready(std::string model, std::string version, answer<bool> done) override {
    fake_.model_ready(std::move(model), std::move(version), std::move(done));
  }
  void index(answer<std::vector<protocol::model_index_entry>> done) override {
    fake_.index(std::move(done));
  }
  void statistics(std::string model,
                  answer<std::vector<protocol::model_statistics>> done) override {
    fake_.statistics(std::move(model), std::move(done));
  }
  void load(std::string model, answer<void> done) override {
    fake_.load(std::move(model), std::move(done));
  }
  void unload(std::string model, answer<void> done) override {
    fake_.unload(std::move(model), std::move(done));
  }

private:
  struct until_cancelled final : protocol::call {
    explicit until_cancelled(part_fn part) : on_part(std::move(part)) {}
    void cancel() noexcept override {
      on_part(fail(errc::cancelled, "cancelled by the client"), true);
    }
    part_fn on_part;
  };

  test::fake_service fake_;
};

} // namespace

int main() {
  echo_service service;
  protocol::msgpack_listener msgpack{service, {}};
  protocol::rest_listener rest{service, {}};
  const auto tcp = msgpack.start();
  const auto http = rest.start();
  if (!tcp || !http)
    return 1;
  std::printf("%d %d\n", *tcp, *http);
  std::fflush(stdout);
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
}
