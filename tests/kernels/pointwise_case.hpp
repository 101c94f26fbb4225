#pragma once

#include "tests/kernels/candidate_runner.hpp"

namespace troupe::tests {

/// A convolution with bias whose window is a single element, channels last.
inline kernel_case pointwise_of(shape input, std::int64_t out_channels) {
  kernel_case node{.op_type = "Conv",
                   .attributes = {},
                   .inputs = {input, {out_channels, input[1], 1, 1}, {out_channels}},
                   .constant = {false, true, true},
                   .output = input,
                   .format = layout::channels_last};
  node.output[1] = out_channels;
  return node;
}

} // namespace troupe::tests
