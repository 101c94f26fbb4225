#pragma once

#include "kernels/op/window.hpp"
#include "kernels/tensor/tensor.hpp"

#include <array>

namespace troupe::cpu {

// One to three spatial axes seen as three, so that reference kernels have one loop nest for all
// ranks.

using spatial_index = std::array<std::int64_t, 3>;

/// A tensor [images, channels, spatial…] in either strided layout; missing axes have size 1.
struct spatial {
  std::int64_t images = 1;
  std::int64_t channels = 1;
  spatial_index sizes{1, 1, 1};
  std::int64_t image_stride = 0;
  std::int64_t channel_stride = 0;
  spatial_index strides{0, 0, 0};

  [[nodiscard]] std::int64_t offset(std::int64_t image, std::int64_t channel,
                                    const spatial_index& at) const noexcept {
    return image * image_stride + channel * channel_stride + at[0] * strides[0] + at[1] * strides[1]
           + at[2] * strides[2];
  }
};

/// Of a strided tensor of rank 2 to 5.
[[nodiscard]] spatial spatial_of(const tensor_desc& desc);

struct spatial_window {
  spatial_index kernel{1, 1, 1};
  spatial_index strides{1, 1, 1};
  spatial_index dilations{1, 1, 1};
  spatial_index pads{0, 0, 0};
  spatial_index pads_end{0, 0, 0};
};

[[nodiscard]] spatial_window spatial_window_of(const window& moves);

template <class Use>
void for_each_place(const spatial_index& sizes, const Use& use) {
  for (std::int64_t d = 0; d < sizes[0]; ++d)
    for (std::int64_t h = 0; h < sizes[1]; ++h)
      for (std::int64_t w = 0; w < sizes[2]; ++w)
        use(spatial_index{d, h, w});
}

/// Calls `use(tap, from)` for every tap of the window at output `place` whose input position `from`
/// lies inside the input.
template <class Use>
void for_each_tap(const spatial_window& moves, const spatial_index& place,
                  const spatial_index& input, const Use& use) {
  for_each_place(moves.kernel, [&](const spatial_index& tap) {
    spatial_index from;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      from[axis] =
          place[axis] * moves.strides[axis] - moves.pads[axis] + tap[axis] * moves.dilations[axis];
      if (from[axis] < 0 || from[axis] >= input[axis])
        return;
    }
    use(tap, from);
  });
}

} // namespace troupe::cpu
