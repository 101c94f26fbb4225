#pragma once

#include "protocol/listener.hpp"
#include "protocol/rest/limits.hpp"
#include "protocol/service.hpp"

#include <memory>

namespace troupe::protocol {

struct rest_options {
  rest::limits limits;
  /// Answer overload and queue timeout with 503, as Triton does, instead of 429 and 504.
  bool triton_error_codes = false;
};

/// Speaks KServe v2 over HTTP/1.1 on one port (protocol/README.md lists the endpoints). `behind`
/// outlives the listener.
class rest_listener final : public listener {
public:
  rest_listener(service& behind, listener_options options, rest_options settings = {});
  ~rest_listener() override; ///< cuts what is still connected

  [[nodiscard]] result<std::uint16_t> start() override;
  void stop_accepting() override;
  bool drain(duration deadline) override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace troupe::protocol
