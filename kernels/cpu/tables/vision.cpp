// What samples, unfolds or pools images at places that data names.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/vision_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array affine_grid{candidate{"reference", make_affine_grid}};
constexpr std::array col2im{candidate{"reference", make_col2im}};
constexpr std::array deform_conv{candidate{"reference", make_deform_conv}};
constexpr std::array grid_sample{candidate{"reference", make_grid_sample}};
constexpr std::array max_roi_pool{candidate{"reference", make_max_roi_pool}};
constexpr std::array max_unpool{candidate{"reference", make_max_unpool}};
constexpr std::array roi_align{candidate{"reference", make_roi_align}};

constexpr std::array operators{
    operator_entry{"", "AffineGrid", affine_grid, 2},
    operator_entry{"", "Col2Im", col2im, 3},
    operator_entry{"", "DeformConv", deform_conv, 3},
    operator_entry{"", "GridSample", grid_sample, 2},
    operator_entry{"", "MaxRoiPool", max_roi_pool, 2},
    operator_entry{"", "MaxUnpool", max_unpool, 2},
    operator_entry{"", "RoiAlign", roi_align, 3},
};

} // namespace

std::span<const operator_entry> vision_operators() {
  return operators;
}

} // namespace troupe::cpu
