#pragma once

#include "kernels/cpu/candidate.hpp"

#include <array>
#include <span>
#include <vector>

namespace troupe::cpu {

/// Where one output position of GridSample-20 looks: elements of a channel and their weights.
struct grid_taps {
  static constexpr std::size_t most = 64; ///< four along each of three axes
  std::array<std::int64_t, most> offset;
  std::array<double, most> weight;
  std::size_t count = 0;
};

/// The sampling rule of a node: interpolation, padding and coordinates over one to three axes.
class grid_sampler {
public:
  [[nodiscard]] static tl::expected<grid_sampler, std::string> make(const kernel_spec& spec);

  /// Taps for a grid entry, whose coordinates are from -1 to 1, innermost axis first. Any number is
  /// a fair coordinate, NaN and infinities too.
  [[nodiscard]] grid_taps taps(std::span<const double> entry) const;

  [[nodiscard]] std::size_t axes() const noexcept { return sizes_.size(); }

private:
  enum class filter : std::uint8_t { nearest, linear, cubic };
  enum class padding : std::uint8_t { zeros, border, reflection };
  struct axis_taps {
    std::array<std::int64_t, 4> position; // -1 where nothing is seen
    std::array<double, 4> weight;
    std::size_t count = 0;
  };

  axis_taps along(std::size_t axis, double coordinate) const;
  double reflected(double x, std::size_t axis) const;
  std::int64_t position(double x, std::size_t axis) const;

  filter filter_ = filter::linear;
  padding padding_ = padding::zeros;
  bool align_corners_ = false;
  std::vector<std::int64_t> sizes_;   // of the input's spatial axes
  std::vector<std::int64_t> strides_; // in elements
};

} // namespace troupe::cpu
