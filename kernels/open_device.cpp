#include "kernels/open_device.hpp"

#include "kernels/cpu/cpu_device.hpp"
#include "kernels/device/device_address.hpp"

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
  return fail(errc::invalid_argument, "device '{}': expected the kind cpu, found '{}'", text,
              address->kind);
}

} // namespace troupe
