#pragma once

#include "kernels/cpu/cpu_device.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <memory>
#include <utility>

namespace troupe::test {

/// The processors as a device, one for each number of threads.
inline device& cpu_device(int threads = 1) {
  static std::map<int, std::shared_ptr<device>> known;
  auto& one = known[threads];
  if (!one) {
    auto made = cpu::make_cpu_device({.threads = threads});
    BOOST_REQUIRE(made.has_value());
    one = std::move(*made);
  }
  return *one;
}

} // namespace troupe::test
