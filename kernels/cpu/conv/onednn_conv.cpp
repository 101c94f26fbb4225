#include "kernels/cpu/conv/onednn_conv.hpp"

namespace troupe::cpu::onednn {

conv_memory describe_conv(const conv_geometry& conv, format activations, const conv_types& types) {
  conv_memory memory;
  memory.source = {
      {conv.batch, conv.channels, conv.y.input, conv.x.input}, types.source, activations};
  memory.destination = {{conv.batch, conv.out_channels, conv.y.output, conv.x.output},
                        types.destination,
                        activations};
  if (conv.has_bias)
    memory.bias = {{conv.out_channels}, types.bias, format::a};
  dnnl::memory::dims dims{conv.out_channels / conv.groups, conv.channels / conv.groups,
                          conv.y.kernel, conv.x.kernel};
  if (conv.groups > 1)
    dims.insert(dims.begin(), conv.groups);
  memory.weights = {dims, types.weights, format::any};
  memory.plain = {dims, types.weights, conv.groups > 1 ? format::goihw : format::oihw};
  return memory;
}

// oneDNN counts the dilation that is not there, and the padding that the last window really uses.
dnnl::convolution_forward::primitive_desc create_conv(const conv_geometry& conv,
                                                      const conv_memory& memory,
                                                      const dnnl::primitive_attr& attributes) {
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::memory::dims strides{conv.y.stride, conv.x.stride};
  const dnnl::memory::dims dilations{conv.y.dilation - 1, conv.x.dilation - 1};
  const dnnl::memory::dims begin{conv.y.pad_begin, conv.x.pad_begin};
  const dnnl::memory::dims end{conv.y.pad_end, conv.x.pad_end};
  const dnnl::convolution_forward::desc desc =
      conv.has_bias ? dnnl::convolution_forward::desc{kind,          algorithm,
                                                      memory.source, memory.weights,
                                                      memory.bias,   memory.destination,
                                                      strides,       dilations,
                                                      begin,         end}
                    : dnnl::convolution_forward::desc{kind,
                                                      algorithm,
                                                      memory.source,
                                                      memory.weights,
                                                      memory.destination,
                                                      strides,
                                                      dilations,
                                                      begin,
                                                      end};
  return {desc, attributes, cpu_engine()};
}

} // namespace troupe::cpu::onednn
