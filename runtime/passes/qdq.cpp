#include "runtime/passes/qdq.hpp"

#include "runtime/passes/match.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::passes {

namespace {

std::int32_t byte_of(float x, const byte_scale& means) {
  const auto whole = byte_bounds::of_type(means.type);
  const auto nearest = std::nearbyint(x / means.by) + static_cast<float>(means.zero);
  return static_cast<std::int32_t>(
      std::clamp(nearest, static_cast<float>(whole.lowest), static_cast<float>(whole.highest)));
}

// What Relu and Clip keep of the real numbers; nothing of other operators.
std::optional<std::pair<float, float>> kept_by(const graph::graph& of, const node& activation) {
  if (activation.op_type == "Relu")
    return std::pair{0.0F, INFINITY};
  if (activation.op_type != "Clip")
    return std::nullopt;
  const auto bounds = clip_bounds(of, activation);
  if (!bounds || !(bounds->first <= bounds->second))
    return std::nullopt;
  return bounds;
}

} // namespace

std::optional<byte_scale> byte_scale_of(const graph::graph& of, const node& scaling) {
  if (scaling.inputs.size() != 3 || scaling.attributes.integer("block_size", 0) != 0
      || scaling.attributes.integer("precision", 0) > 1
      || scaling.attributes.integer("output_dtype", 0) > 3) // FP32, UINT8 or INT8, or left out
    return std::nullopt;
  const auto by = scalar_in(of, scaling.inputs[1]);
  if (!by || !std::isnormal(*by) || *by < 0 || !of.is_constant(scaling.inputs[2]))
    return std::nullopt;
  const auto& zero = *of.values[scaling.inputs[2]].constant;
  if (element_count(zero.dims) != 1 || (zero.type != dtype::int8 && zero.type != dtype::uint8))
    return std::nullopt;
  return byte_scale{.scale = scaling.inputs[1],
                    .zero_point = scaling.inputs[2],
                    .type = zero.type,
                    .by = *by,
                    .zero = zero.type == dtype::int8
                                ? std::int32_t{elements_of<std::int8_t>(zero.data).front()}
                                : std::int32_t{elements_of<std::uint8_t>(zero.data).front()}};
}

std::optional<real_bytes> dequantized(const rewriter& in, value_id of) {
  const auto* made = in.plain_producer(of, "DequantizeLinear");
  if (made == nullptr || in.on().values[of].type != dtype::float32)
    return std::nullopt;
  const auto means = byte_scale_of(in.on(), *made);
  return means ? std::optional{real_bytes{made->inputs[0], *means}} : std::nullopt;
}

std::optional<quantized_result> quantized(const rewriter& in, const node& quantizing) {
  const auto& on = in.on();
  const auto means = byte_scale_of(on, quantizing);
  auto real = quantizing.inputs[0];
  if (!means || on.values[real].type != dtype::float32)
    return std::nullopt;
  quantized_result made{real, *means, byte_bounds::of_type(means->type)};
  const auto* activation = in.plain_producer(real);
  if (const auto kept = activation != nullptr ? kept_by(on, *activation) : std::nullopt;
      kept && in.uses(real) == 1)
    made = {activation->inputs[0],
            *means,
            {byte_of(kept->first, *means), byte_of(kept->second, *means)}};
  return in.uses(made.real) == 1 ? std::optional{made} : std::nullopt;
}

void set_bounds(attribute_map& of, const quantized_result& result) {
  const auto whole = byte_bounds::of_type(result.means.type);
  if (result.within.lowest != whole.lowest)
    of.set(std::string{lowest_byte}, std::int64_t{result.within.lowest});
  if (result.within.highest != whole.highest)
    of.set(std::string{highest_byte}, std::int64_t{result.within.highest});
}

} // namespace troupe::passes
