#pragma once

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/onednn.hpp"

namespace troupe::cpu::onednn {

/// Element types of a convolution's tensors.
struct conv_types {
  using type = dnnl::memory::data_type;
  type source = type::f32;
  type weights = type::f32;
  type bias = type::f32;
  type destination = type::f32;
};

struct conv_memory {
  memory_desc source;
  memory_desc weights; ///< in a layout that oneDNN chooses
  memory_desc plain;   ///< as the model has them
  memory_desc bias;    ///< empty where there is none
  memory_desc destination;
};

[[nodiscard]] conv_memory describe_conv(const conv_geometry& conv, format activations,
                                        const conv_types& types = {});

/// Throws dnnl::error where oneDNN has no such convolution.
[[nodiscard]] dnnl::convolution_forward::primitive_desc
create_conv(const conv_geometry& conv, const conv_memory& memory,
            const dnnl::primitive_attr& attributes);

} // namespace troupe::cpu::onednn
