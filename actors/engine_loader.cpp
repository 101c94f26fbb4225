#include "actors/engine_loader.hpp"

#include "kernels/open_device.hpp"

namespace troupe::actors {

result<std::vector<std::shared_ptr<troupe::device>>>
open_devices(const std::vector<std::string>& addresses) {
  if (addresses.empty())
    return fail(errc::invalid_argument, "devices: expected at least one, such as \"cpu\"");
  std::vector<std::shared_ptr<troupe::device>> opened;
  for (const auto& address : addresses) {
    auto one = open_device(address);
    if (!one)
      return propagate(std::move(one));
    opened.push_back(std::move(*one));
  }
  return opened;
}

result<loader> loader_for(const std::string& name, const std::filesystem::path& /*from*/,
                          loading_setup /*setup*/) {
  return fail(errc::unimplemented, "model {}: this build serves stages only", name);
}

result<model_source> repository_source(loading_setup setup) {
  if (!setup.with.model_repository.empty())
    return fail(errc::unimplemented, "model repository: this build serves stages only");
  return model_source{};
}

} // namespace troupe::actors
