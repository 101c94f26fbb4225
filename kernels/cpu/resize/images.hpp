#pragma once

#include "kernels/cpu/resize/resize.hpp"

namespace troupe::cpu {

/// A Resize along the rows and columns of images, in either strided layout: [planes, rows, columns,
/// run], where a run is what moves as one, all channels of a position in channels-last layout, else
/// a single element.
struct resized_images {
  std::int64_t planes = 1;
  std::int64_t rows_in = 1, rows_out = 1;
  std::int64_t columns_in = 1, columns_out = 1;
  std::int64_t run = 1;
  resize_axis down;
  resize_axis across;
};

/// The reason when the node is not one: other axes are resized, the layouts differ, the scales are
/// known only at launch.
[[nodiscard]] tl::expected<resized_images, std::string> resized_images_of(const kernel_spec& spec,
                                                                          const resize_rule& rule);

} // namespace troupe::cpu
