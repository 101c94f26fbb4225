#pragma once

#include "kernels/device/device.hpp"

#include <cstddef>
#include <limits>
#include <memory>

namespace troupe::test {

/// A block of no memory at all.
struct heap_block final : buffer {
  struct totals {
    int blocks = 0;
    std::size_t bytes = 0;
  };

  heap_block(std::size_t bytes, totals& of) : bytes_(bytes), of_(of) {
    ++of_.blocks;
    of_.bytes += bytes_;
  }
  ~heap_block() override {
    --of_.blocks;
    of_.bytes -= bytes_;
  }
  std::byte* data() const noexcept override { return nullptr; }
  std::size_t size() const noexcept override { return bytes_; }

  std::size_t bytes_;
  totals& of_;
};

/// Says how much of it is out.
struct counting_device final : device {
  const device_properties& properties() const noexcept override { return about; }
  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    if (alive.bytes + bytes > there_is)
      return fail(errc::resource_exhausted, "no more");
    return std::make_unique<heap_block>(bytes, alive);
  }
  result<std::unique_ptr<buffer>> allocate_host(std::size_t bytes) override {
    return std::make_unique<heap_block>(bytes, alive_on_host);
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode) override {
    return fail(errc::unimplemented, "no streams here");
  }
  layout_rule layouts(const kernel_spec&) const override { return layout_rule::row_major_only; }
  result<kernel_choice> choose_kernel(const kernel_spec&, weight_cache&) override {
    return fail(errc::unimplemented, "no kernels here");
  }

  device_properties about;
  std::size_t there_is = std::numeric_limits<std::size_t>::max(); ///< bytes, whatever books say
  heap_block::totals alive;
  heap_block::totals alive_on_host;
};

} // namespace troupe::test
