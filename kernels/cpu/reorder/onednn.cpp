// Between row-major and channels-last activations, as oneDNN's reorder.

#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/onednn_kernels.hpp"

namespace troupe::cpu {

made_kernel make_onednn_reorder(const kernel_spec& spec, weight_cache&) {
  using namespace onednn;
  const auto& input = spec.inputs[0].desc;
  const auto& output = spec.outputs[0];
  if (input.type != dtype::float32 || output.type != dtype::float32)
    return decline("only FP32, found {}", to_string(input.type));
  if (input.dims.size() < 3 || input.dims.size() > 4 || output.dims != input.dims)
    return decline("only activations of 3 or 4 axes, found {}", to_string(input.dims));
  if (input.elements() == 0)
    return decline("an empty tensor");
  const auto place = [](const tensor_desc& desc) -> attempted<memory_desc> {
    const dnnl::memory::dims dims{desc.dims.begin(), desc.dims.end()};
    const bool flat = dims.size() == 3;
    if (desc.format == layout::row_major)
      return dense(dims, flat ? format::abc : format::abcd);
    if (desc.format == layout::channels_last)
      return dense(dims, flat ? format::acb : format::acdb);
    return decline("a blocked layout");
  };
  const auto from = place(input);
  const auto to = place(output);
  if (!from || !to)
    return tl::unexpected{from ? to.error() : from.error()};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto chosen = attempt([&] {
    return dnnl::reorder::primitive_desc{cpu_engine(), *from, cpu_engine(), *to, attributes};
  });
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (is_reference(name))
    return decline("oneDNN only has {}", name);
  return make_primitive_kernel(
      name, dnnl::reorder{*chosen},
      {{DNNL_ARG_FROM, *from, binding::source::input, 0},
       {DNNL_ARG_TO, *to, binding::source::output, 0},
       {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), binding::source::workspace, 0}});
}

} // namespace troupe::cpu
