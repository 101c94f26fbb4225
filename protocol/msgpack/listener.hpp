#pragma once

#include "protocol/listener.hpp"
#include "protocol/msgpack/limits.hpp"
#include "protocol/service.hpp"

#include <memory>

namespace troupe::protocol {

/// Speaks docs/msgpack-protocol.md on one port. `behind` outlives the listener.
class msgpack_listener final : public listener {
public:
  msgpack_listener(service& behind, listener_options options, rpc::limits limits = {});
  ~msgpack_listener() override; ///< cuts what is still connected

  [[nodiscard]] result<std::uint16_t> start() override;
  void stop_accepting() override;
  bool drain(duration deadline) override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace troupe::protocol
