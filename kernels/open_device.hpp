#pragma once

#include "kernels/device/device.hpp"

#include <memory>
#include <string_view>

namespace troupe {

/// The device an address names, such as "cpu", "cpu:threads=4" or "sim:launch_us=100,row_us=5".
/// invalid_argument for an unknown kind or option.
[[nodiscard]] result<std::shared_ptr<device>> open_device(std::string_view address);

} // namespace troupe
