#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu::qlinear_conv {

/// Inputs of QLinearConv, and of "QLinearGemm" of the domain "troupe": x [rows, inner] and w
/// [columns, inner] in the place of images and filters, made by the pass fold_qdq_products.
enum input : std::size_t { x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias };

/// Makes the kernel of a QLinearGemm by `make(spec)` of a convolution with a single position.
template <class Make>
[[nodiscard]] made_kernel with_positions(const kernel_spec& spec, const Make& make) {
  const auto widen = [](shape& dims) { dims.resize(4, 1); };
  std::vector<operand> inputs{spec.inputs.begin(), spec.inputs.end()};
  if (inputs[x].desc.dims.size() != 2 || inputs[w].desc.dims.size() != 2)
    return decline("{} and {}, matrices expected", to_string(inputs[x].desc.dims),
                   to_string(inputs[w].desc.dims));
  auto output = spec.outputs[0];
  for (auto* dims : {&inputs[x].desc.dims, &inputs[w].desc.dims, &output.dims})
    widen(*dims);
  auto wide = spec;
  wide.inputs = inputs;
  wide.outputs = {&output, 1};
  return make(wide);
}

} // namespace troupe::cpu::qlinear_conv
