#include "kernels/cpu/matmul/product_onednn.hpp"

namespace troupe::cpu::onednn {
namespace {

using primitive_desc = dnnl::matmul::primitive_desc;

attempted<primitive_desc> create(const product& wanted, const memory_desc& right,
                                 const dnnl::primitive_attr& attributes) {
  return attempt([&]() -> primitive_desc {
    const dnnl::matmul::desc desc =
        wanted.bias ? dnnl::matmul::desc{wanted.left, right, wanted.bias->desc, wanted.out}
                    : dnnl::matmul::desc{wanted.left, right, wanted.out};
    return {desc, attributes, cpu_engine()};
  });
}

bool is_fast(const attempted<primitive_desc>& made, bool gemm_too) {
  if (!made)
    return false;
  const std::string_view name = made->impl_info_str();
  return !is_reference(name) && (gemm_too || !is_gemm(name));
}

} // namespace

made_kernel make_product(const kernel_spec& spec, weight_cache& weights, product wanted,
                         bool gemm_too) {
  const auto fused = fuse(spec, wanted.first, wanted.out, wanted.place);
  if (!fused)
    return tl::unexpected{fused.error()};
  attempted<primitive_desc> chosen = decline("not tried");
  if (wanted.constant) {
    if (const auto pinned = pinned_layout(weights, wanted.constant.get(), wanted.right))
      chosen = create(wanted, *pinned, fused->attributes);
    if (!is_fast(chosen, gemm_too)) {
      const memory_desc any{wanted.right.dims(), dnnl::memory::data_type::f32, format::any};
      chosen = create(wanted, any, fused->attributes);
    }
  } else {
    chosen = create(wanted, wanted.right, fused->attributes);
  }
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (!is_fast(chosen, gemm_too))
    return decline("oneDNN only has {}", name);

  using from = binding::source;
  binding right{DNNL_ARG_WEIGHTS, chosen->weights_desc(), from::input, wanted.right_input};
  if (wanted.constant) {
    auto packed = pack(weights, wanted.constant, wanted.right, right.desc);
    if (!packed)
      return tl::unexpected{std::move(packed).error()};
    right.from = from::constant;
    right.constant = *std::move(packed);
  }
  std::vector<binding> arguments{
      {DNNL_ARG_SRC, wanted.left, from::input, wanted.left_input},
      std::move(right),
      {DNNL_ARG_DST, wanted.out, from::output, 0},
      {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}};
  if (wanted.bias)
    arguments.push_back(*wanted.bias);
  for (const auto* operands : {&std::as_const(wanted.first_operands), &fused->operands})
    arguments.insert(arguments.end(), operands->begin(), operands->end());
  return make_primitive_kernel(name, dnnl::matmul{*chosen}, std::move(arguments));
}

} // namespace troupe::cpu::onednn
