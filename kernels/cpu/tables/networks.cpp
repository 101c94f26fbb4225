// Mathematics, recurrent layers, attention and the normalisations beside those of convolutions.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/attention/fused_form.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array attention{
    candidate{"blocks", make_blocked_attention},
    candidate{"reference", make_reference_attention},
};
constexpr std::array causal_conv{candidate{"reference", make_reference_causal_conv}};
constexpr std::array det{candidate{"reference", make_reference_det}};
constexpr std::array dft{candidate{"reference", make_reference_dft}};
constexpr std::array einsum{candidate{"reference", make_reference_einsum}};
constexpr std::array fused_attention{
    candidate{"blocks", make_blocked_fused_attention},
    candidate{"reference", make_reference_fused_attention},
};
constexpr std::array group_normalization{
    candidate{"reference", make_reference_group_normalization}};
constexpr std::array linear_attention{candidate{"reference", make_reference_linear_attention}};
constexpr std::array loss{candidate{"reference", make_reference_loss}};
constexpr std::array lp_normalization{candidate{"reference", make_reference_lp_normalization}};
constexpr std::array lrn{candidate{"reference", make_reference_lrn}};
constexpr std::array mean_variance_normalization{
    candidate{"reference", make_reference_mean_variance_normalization}};
constexpr std::array mel_weights{candidate{"reference", make_reference_mel_weights}};
constexpr std::array recurrent{
    candidate{"onednn:projected", make_onednn_recurrent},
    candidate{"reference", make_reference_recurrent},
};
constexpr std::array rms_normalization{candidate{"reference", make_reference_layer_normalization}};
constexpr std::array rotary_embedding{candidate{"reference", make_reference_rotary_embedding}};
constexpr std::array signal_window{candidate{"reference", make_reference_signal_window}};
constexpr std::array squeeze_excite{
    candidate{"highway", make_highway_squeeze_excite, post_ops_by::kernel},
    candidate{"highway", make_highway_squeeze_excite},
    candidate{"reference", make_reference_squeeze_excite},
};
constexpr std::array stft{candidate{"reference", make_reference_stft}};

constexpr std::array operators{
    operator_entry{"", "Attention", attention, 3},
    operator_entry{"", "BlackmanWindow", signal_window},
    operator_entry{"", "CausalConvWithState", causal_conv, 2},
    operator_entry{"", "DFT", dft},
    operator_entry{"", "Det", det},
    operator_entry{"", "Einsum", einsum},
    operator_entry{"", "GRU", recurrent, 3},
    operator_entry{"", "GroupNormalization", group_normalization, 3},
    operator_entry{"", "HammingWindow", signal_window},
    operator_entry{"", "HannWindow", signal_window},
    operator_entry{"", "InstanceNormalization", group_normalization, 3},
    operator_entry{"", "LRN", lrn},
    operator_entry{"", "LSTM", recurrent, 3},
    operator_entry{"", "LinearAttention", linear_attention, 3},
    operator_entry{"", "LpNormalization", lp_normalization},
    operator_entry{"", "MeanVarianceNormalization", mean_variance_normalization},
    operator_entry{"", "MelWeightMatrix", mel_weights, 5},
    operator_entry{"", "NegativeLogLikelihoodLoss", loss, 2},
    operator_entry{"", "RMSNormalization", rms_normalization, 2},
    operator_entry{"", "RNN", recurrent, 3},
    operator_entry{"", "RotaryEmbedding", rotary_embedding, 3},
    operator_entry{"", "STFT", stft, 2},
    operator_entry{"", "SoftmaxCrossEntropyLoss", loss, 2},
    operator_entry{"troupe", "Attention", fused_attention, 3},
    operator_entry{"troupe", "SqueezeExcite", squeeze_excite, 2},
};

} // namespace

std::span<const operator_entry> network_operators() {
  return operators;
}

} // namespace troupe::cpu
