// MatMul, Gemm and pointwise convolutions as products with a packed right-hand side.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/matmul/operands.hpp"
#include "kernels/cpu/matmul/packed_kernel.hpp"
#include "kernels/cpu/matmul/packed_product.hpp"
#include "kernels/cpu/placement.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {
namespace {

constexpr std::int64_t most_channels = 256;

std::string unsupported(const kernel_spec& spec) {
  if (auto reason = unsupported_product(spec); !reason.empty())
    return reason;
  return spec.inputs[1].constant ? "" : "the right-hand side is not constant";
}

// Where oneDNN's product is faster.
std::string better_elsewhere(const conv_geometry& conv) {
  if (conv.out_channels % packed_product::vector_lanes() != 0)
    return fmt::format("{} output channels fill no whole number of vectors", conv.out_channels);
  if (conv.channels > most_channels)
    return fmt::format("more than {} channels", most_channels);
  return {};
}

using asked = tl::expected<packed_request, std::string>;

asked matmul_request(const kernel_spec& spec) {
  if (auto reason = unsupported(spec); !reason.empty())
    return tl::unexpected{std::move(reason)};
  const auto& left = spec.inputs[0].desc;
  const auto& right = spec.inputs[1].desc;
  if (left.dims.empty() || right.dims.size() < 2)
    return decline("only matrices on the right, found {}", to_string(right.dims));
  const auto inner = left.dims.back();
  const auto columns = right.dims.back();
  if (right.elements() != inner * columns)
    return decline("several matrices on the right: {}", to_string(right.dims));
  return packed_request{.rows = left.elements() / inner,
                        .inner = inner,
                        .columns = columns,
                        .right = spec.inputs[1].constant,
                        .row_stride = columns,
                        .column_stride = 1,
                        .columns_last = true,
                        .items = left.dims.size() > 2 ? left.dims[0] : 1};
}

asked gemm_request(const kernel_spec& spec) {
  if (auto reason = unsupported(spec); !reason.empty())
    return tl::unexpected{std::move(reason)};
  if (spec.attributes->integer("transA", 0) != 0 || spec.attributes->real("alpha", 1.0F) != 1.0F
      || spec.attributes->real("beta", 1.0F) != 1.0F)
    return decline("a transposed left-hand side or a factor");
  const auto& left = spec.inputs[0].desc.dims;
  const auto& output = spec.outputs[0].dims;
  if (left.size() != 2 || output.size() != 2)
    return decline("only matrices");
  const bool transposed = spec.attributes->integer("transB", 0) != 0;
  packed_request wanted{.rows = left[0],
                        .inner = left[1],
                        .columns = output[1],
                        .right = spec.inputs[1].constant,
                        .row_stride = transposed ? 1 : output[1],
                        .column_stride = transposed ? left[1] : 1,
                        .columns_last = true};
  if (own_inputs(spec) > 2 && has_input(spec, 2)) {
    const auto& addend = spec.inputs[2].desc;
    if (addend.type != dtype::float32 || addend.elements() != wanted.columns || addend.dims.empty()
        || addend.dims.back() != wanted.columns)
      return decline("C of {} is not a row", to_string(addend.dims));
    wanted.bias = 2;
  }
  return wanted;
}

using maker = made_kernel (*)(const kernel_spec&, weight_cache&, const packed_request&);

made_kernel make(maker kind, const asked& wanted, const kernel_spec& spec, weight_cache& weights) {
  if (!wanted)
    return tl::unexpected{wanted.error()};
  return kind(spec, weights, *wanted);
}

} // namespace

packed_request pointwise_request(const conv_geometry& conv, const kernel_spec& spec) {
  packed_request wanted{.rows = conv.batch * conv.y.output * conv.x.output,
                        .inner = conv.channels,
                        .columns = conv.out_channels,
                        .right = spec.inputs[1].constant,
                        .row_stride = 1,
                        .column_stride = conv.channels,
                        .items = conv.batch};
  if (conv.has_bias)
    wanted.bias = 2;
  return wanted;
}

made_kernel make_packed_matmul(const kernel_spec& spec, weight_cache& weights) {
  return make(make_packed_kernel, matmul_request(spec), spec, weights);
}

made_kernel make_packed_gemm(const kernel_spec& spec, weight_cache& weights) {
  return make(make_packed_kernel, gemm_request(spec), spec, weights);
}

made_kernel make_packed_pointwise_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = pointwise_geometry_of(spec);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (auto reason = better_elsewhere(*conv); !reason.empty())
    return tl::unexpected{std::move(reason)};
  return make_packed_kernel(spec, weights, pointwise_request(*conv, spec));
}

// Rows that are added to each other share their rounding errors, and what is no number: they have
// to be of one request.
made_kernel make_strassen_matmul(const kernel_spec& spec, weight_cache& weights) {
  if (spec.inputs[0].desc.dims.size() < 3)
    return decline("the rows of a matrix may belong to several requests");
  if (spec.attributes->integer(rows_inside, 0) != 0)
    return decline("an item along axis 0 holds rows of several requests");
  return make(make_strassen_kernel, matmul_request(spec), spec, weights);
}

made_kernel make_strassen_pointwise_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = pointwise_geometry_of(spec);
  if (!conv)
    return tl::unexpected{conv.error()};
  return make_strassen_kernel(spec, weights, pointwise_request(*conv, spec));
}

} // namespace troupe::cpu
