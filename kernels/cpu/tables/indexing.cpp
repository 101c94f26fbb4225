// What picks, places or rearranges elements.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/indexing_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array center_crop_pad{candidate{"reference", make_center_crop_pad}};
constexpr std::array cumulation{candidate{"reference", make_cumulation}};
constexpr std::array depth_to_space{candidate{"tiled", make_depth_to_space}};
constexpr std::array eye_like{candidate{"reference", make_eye_like}};
constexpr std::array gather_elements{candidate{"reference", make_gather_elements}};
constexpr std::array gather_nd{candidate{"reference", make_gather_nd}};
constexpr std::array one_hot{candidate{"reference", make_one_hot}};
constexpr std::array reverse_sequence{candidate{"reference", make_reverse_sequence}};
constexpr std::array scatter_elements{candidate{"reference", make_scatter_elements}};
constexpr std::array scatter_nd{candidate{"reference", make_scatter_nd}};
constexpr std::array space_to_depth{candidate{"tiled", make_space_to_depth}};
constexpr std::array tensor_scatter{candidate{"reference", make_tensor_scatter}};
constexpr std::array top_k{candidate{"reference", make_top_k}};
constexpr std::array trilu{candidate{"reference", make_trilu}};

constexpr std::array operators{
    operator_entry{"", "CenterCropPad", center_crop_pad, 2},
    operator_entry{"", "CumProd", cumulation, 2},
    operator_entry{"", "CumSum", cumulation, 2},
    operator_entry{"", "DepthToSpace", depth_to_space},
    operator_entry{"", "EyeLike", eye_like},
    operator_entry{"", "GatherElements", gather_elements, 2},
    operator_entry{"", "GatherND", gather_nd, 2},
    operator_entry{"", "OneHot", one_hot, 3},
    operator_entry{"", "ReverseSequence", reverse_sequence, 2},
    operator_entry{"", "Scatter", scatter_elements, 3},
    operator_entry{"", "ScatterElements", scatter_elements, 3},
    operator_entry{"", "ScatterND", scatter_nd, 3},
    operator_entry{"", "SpaceToDepth", space_to_depth},
    operator_entry{"", "TensorScatter", tensor_scatter, 2},
    operator_entry{"", "TopK", top_k},
    operator_entry{"", "Trilu", trilu},
};

} // namespace

std::span<const operator_entry> indexing_operators() {
  return operators;
}

} // namespace troupe::cpu
