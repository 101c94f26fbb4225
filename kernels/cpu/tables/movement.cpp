// What moves data or makes it: shapes, slices, copies, constants.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array identity{candidate{"reference", make_reference_identity}};

constexpr std::array concat{
    candidate{"tiled", make_tiled_concat},
    candidate{"reference", make_reference_concat},
};
constexpr std::array constant{candidate{"reference", make_reference_constant}};
constexpr std::array constant_of_shape{candidate{"reference", make_reference_constant_of_shape}};
constexpr std::array expand{candidate{"reference", make_reference_expand}};
constexpr std::array gather{candidate{"reference", make_reference_gather}};
constexpr std::array pad{candidate{"reference", make_reference_pad}};
constexpr std::array range{candidate{"reference", make_reference_range}};

constexpr std::array reorder{
    candidate{"onednn", make_onednn_reorder},
    candidate{"tiled", make_tiled_reorder},
    candidate{"reference", make_reference_reorder},
};

constexpr std::array resize{
    candidate{"nearest", make_nearest_resize},
    candidate{"separable", make_separable_resize},
    candidate{"reference", make_reference_resize},
};
constexpr std::array shape{candidate{"reference", make_reference_shape}};
constexpr std::array slice{candidate{"reference", make_reference_slice}};

constexpr std::array split{
    candidate{"tiled", make_tiled_split},
    candidate{"reference", make_reference_split},
};
constexpr std::array tile{candidate{"reference", make_reference_tile}};

constexpr std::array transpose{
    candidate{"tiled", make_tiled_transpose},
    candidate{"reference", make_reference_transpose},
};

constexpr std::array operators{
    operator_entry{"", "Identity", identity},
    operator_entry{"", "Reshape", identity},
    operator_entry{"", "Squeeze", identity},
    operator_entry{"", "Unsqueeze", identity},
    operator_entry{"", "Flatten", identity},
    operator_entry{"", "Transpose", transpose},
    operator_entry{"", "Concat", concat},
    operator_entry{"", "Split", split},
    operator_entry{"", "Slice", slice},
    operator_entry{"", "Gather", gather, 2},
    operator_entry{"", "Expand", expand, 2},
    operator_entry{"", "Tile", tile, 2},
    operator_entry{"", "Pad", pad},
    operator_entry{"", "Resize", resize},
    operator_entry{"", "Upsample", resize},
    operator_entry{"", "Shape", shape},
    operator_entry{"", "Size", shape},
    operator_entry{"", "Constant", constant, 0},
    operator_entry{"", "ConstantOfShape", constant_of_shape},
    operator_entry{"", "Range", range, 3},
    operator_entry{"troupe", "Reorder", reorder},
};

} // namespace

std::span<const operator_entry> movement_operators() {
  return operators;
}

} // namespace troupe::cpu
