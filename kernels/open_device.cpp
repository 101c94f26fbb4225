#include "kernels/open_device.hpp"

#include "kernels/cpu/cpu_device.hpp"
#include "kernels/device/device_address.hpp"
#include "kernels/sim/sim_device.hpp"

namespace troupe {

result<std::shared_ptr<device>> open_device(std::string_view text) {
  const auto address = parse_device_address(text);
  if (!address)
    return propagate(address);
  if (address->kind == "cpu") {
    const auto options = cpu::parse_cpu_options(*address);
    if (!options)
      return propagate(options);
    return cpu::make_cpu_device(*options);
  }
  if (address->kind == "sim") {
    auto options = sim::parse_sim_options(*address);
    if (!options)
      return propagate(options);
    options->name = text;
    return sim::make_sim_device(*std::move(options));
  }
  return fail(errc::invalid_argument, "device '{}': expected the kind cpu or sim, found '{}'", text,
              address->kind);
}

} // namespace troupe
