#include "kernels/cpu/recurrent/weight_product.hpp"

#include <array>

namespace troupe::cpu::onednn {

attempted<weight_product> weight_product::make(std::int64_t rows, const weight_rows& from,
                                               weight_cache& weights) {
  using type = dnnl::memory::data_type;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory_desc left{{rows, from.inner}, type::f32, format::ab};
  const memory_desc any{{from.inner, from.columns}, type::f32, format::any};
  const memory_desc out{{rows, from.columns}, type::f32, format::ab};
  auto made = attempt([&] {
    return dnnl::matmul::primitive_desc{dnnl::matmul::desc{left, any, out}, attributes,
                                        cpu_engine()};
  });
  if (!made)
    return tl::unexpected{std::move(made).error()};
  if (is_reference(made->impl_info_str()))
    return decline("oneDNN only has {}", made->impl_info_str());
  const memory_desc packed = made->weights_desc();
  const memory_desc plain{{from.inner, from.columns}, type::f32, {1, from.inner}};
  const auto* start =
      from.weight->data.data() + static_cast<std::size_t>(from.first * from.inner) * sizeof(float);
  const auto fill = [&](std::span<std::byte> to) -> result<void> {
    const auto done = attempt([&] {
      dnnl::stream stream{cpu_engine()};
      dnnl::memory source{plain, cpu_engine(), const_cast<std::byte*>(start)}; // NOLINT: only read
      dnnl::memory target{packed, cpu_engine(), to.data()};
      dnnl::reorder{source, target}.execute(stream, source, target);
      stream.wait();
      return true;
    });
    return done ? result<void>{}
                : fail(errc::internal, "packing a recurrent weight: {}", done.error());
  };
  std::string key = fmt::format("recurrent:{}:{}:", from.first, from.columns);
  key.append(reinterpret_cast<const char*>(&packed.data), sizeof packed.data);
  auto weight = weights.find_or_pack(from.weight, key, packed.get_size(), fill);
  if (!weight)
    return tl::unexpected<std::string>{std::move(weight).error().text};
  using source = binding::source;
  const std::vector<binding> arguments{
      {DNNL_ARG_SRC, left, source::input, 0},
      {DNNL_ARG_WEIGHTS, packed, source::constant, 0},
      {DNNL_ARG_DST, out, source::output, 0},
      {DNNL_ARG_SCRATCHPAD, made->scratchpad_desc(), source::workspace, 0}};
  weight_product product;
  product.primitive_ = std::make_unique<const bound_primitive>(dnnl::matmul{*made}, arguments);
  product.weight_ = *std::move(weight);
  product.scratch_ = made->scratchpad_desc().get_size();
  return product;
}

result<void> weight_product::run(const float* left, float* out, std::byte* scratch) const {
  // oneDNN only reads the first two.
  const std::array<void*, 4> addresses{const_cast<float*>(left), // NOLINT
                                       const_cast<std::byte*>(weight_.data()), out, scratch};
  return primitive_->run(addresses);
}

} // namespace troupe::cpu::onednn
