#pragma once

#include "runtime/passes/rewriter.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::passes {

/// y = scale * x + shift for each channel.
struct channel_affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// Output channels of a Conv or ConvTranspose with constant float32 weight and no or a constant
/// bias, whose steps begin after it; nothing for any other node.
[[nodiscard]] std::optional<std::int64_t> foldable_channels(const graph::graph& of,
                                                            const node& conv);

/// One number for each of `channels`, from a float32 constant of one element or of the dims
/// [C,1,…] of a tensor of rank `rank`; nothing for another.
[[nodiscard]] std::optional<std::vector<double>>
per_channel(const graph::graph& of, value_id constant, std::int64_t channels, std::size_t rank);

/// Gives the convolution the weight and bias with which it computes `then` of what it computed
/// before. `foldable_channels` said yes. The old constants stay for whoever else reads them.
void fold_into(rewriter& edit, node_id conv, const channel_affine& then);

} // namespace troupe::passes
