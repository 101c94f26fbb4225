// com.microsoft; its compositions of other operators are rewritten before kernels are chosen.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/contrib/kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::string_view microsoft = "com.microsoft";

constexpr std::array group_query_attention{candidate{"blocks", make_group_query_attention}};
constexpr std::array matmul_nbits{candidate{"plain", make_matmul_nbits}};
constexpr std::array multi_head_attention{candidate{"blocks", make_multi_head_attention}};
constexpr std::array rotary_embedding{candidate{"plain", make_rotary_embedding}};

constexpr std::array operators{
    operator_entry{microsoft, "GroupQueryAttention", group_query_attention},
    operator_entry{microsoft, "MatMulNBits", matmul_nbits, 3},
    operator_entry{microsoft, "MultiHeadAttention", multi_head_attention, 3},
    operator_entry{microsoft, "RotaryEmbedding", rotary_embedding, 4},
};

} // namespace

std::span<const operator_entry> contrib_operators() {
  return operators;
}

} // namespace troupe::cpu
