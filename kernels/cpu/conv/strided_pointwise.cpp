// A convolution with a 1x1 window and a stride reads every so many positions: they are gathered,
// and the rest is a matrix product.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/matmul/packed_kernel.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/placement.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::cpu {
namespace {

constexpr std::size_t most_inputs = 8;

class gathered_product final : public kernel {
public:
  gathered_product(const conv_geometry& conv, std::shared_ptr<const kernel> product, int threads)
      : conv_{conv}, product_{std::move(product)}, threads_{threads} {}

  std::string name() const override { return product_->name() + ":strided"; }
  std::size_t workspace_bytes() const noexcept override {
    return gathered_bytes() + product_->workspace_bytes();
  }
  bool can_overwrite(std::size_t input) const noexcept override {
    return input != 0 && product_->can_overwrite(input);
  }
  bool reads(std::size_t index) const noexcept override { return product_->reads(index); }

  result<void> launch(stream& on, const kernel_args& args) const override {
    gather(args.inputs[0].as<const float>(), reinterpret_cast<float*>(args.workspace.data()));
    std::array<tensor_view, most_inputs> inputs;
    std::ranges::copy(args.inputs, inputs.begin());
    inputs[0].data = args.workspace.data();
    return product_->launch(on, {std::span{inputs}.first(args.inputs.size()), args.outputs,
                                 args.workspace.subspan(gathered_bytes())});
  }

private:
  [[nodiscard]] std::size_t gathered_bytes() const noexcept {
    const auto floats = conv_.batch * conv_.y.output * conv_.x.output * conv_.channels;
    const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
    return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
  }

  void gather(const float* from, float* to) const {
    const auto bytes = static_cast<std::size_t>(conv_.channels) * sizeof(float);
    const auto width = conv_.x.output;
    parallel_for(threads_, conv_.batch * conv_.y.output, width * conv_.channels,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto row = begin; row < end; ++row) {
                     const auto image = row / conv_.y.output;
                     const auto y = row % conv_.y.output * conv_.y.stride;
                     const float* line =
                         from + (image * conv_.y.input + y) * conv_.x.input * conv_.channels;
                     for (std::int64_t x = 0; x < width; ++x)
                       std::memcpy(to + (row * width + x) * conv_.channels,
                                   line + x * conv_.x.stride * conv_.channels, bytes);
                   }
                 });
  }

  conv_geometry conv_;
  std::shared_ptr<const kernel> product_;
  int threads_;
};

bool is_strided_pointwise(const conv_geometry& conv) {
  const auto single = [](const window_axis& axis) {
    return axis.kernel == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
  };
  return conv.groups == 1 && single(conv.y) && single(conv.x) && !is_pointwise(conv);
}

} // namespace

made_kernel make_strided_pointwise_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (!is_strided_pointwise(*conv))
    return decline("the window is not a single element with a stride");
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  if (spec.inputs.size() > most_inputs)
    return decline("more than {} inputs", most_inputs);
  auto product = make_strassen_kernel(spec, weights, pointwise_request(*conv, spec));
  if (!product)
    return product;
  return std::make_shared<gathered_product>(*conv, *std::move(product), spec.threads);
}

} // namespace troupe::cpu
