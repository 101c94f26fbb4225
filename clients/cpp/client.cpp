#include "clients/cpp/client.hpp"

#include "clients/cpp/http_client.hpp"
#include "clients/cpp/msgpack_client.hpp"
#include "clients/cpp/url.hpp"

#include <utility>

namespace troupe::client {

std::future<response_part> client::infer_async(inference_request request) {
  auto promise = std::make_shared<std::promise<response_part>>();
  auto answer = promise->get_future();
  infer(std::move(request), [promise](response_part part) { promise->set_value(std::move(part)); });
  return answer;
}

response_part client::infer(inference_request request) {
  return infer_async(std::move(request)).get();
}

result<std::unique_ptr<client>> connect(std::string_view text, options with) {
  const auto to = parse_url(text);
  if (!to)
    return propagate(to);
  switch (to->how) {
    case scheme::tcp: return connect_msgpack(to->host, to->port, with);
    case scheme::http: return connect_http(to->host, to->port, with);
    case scheme::grpc: break;
  }
  return fail(errc::unimplemented, "grpc:// is not built yet; use tcp:// or http://");
}

} // namespace troupe::client
