// y = saturate(round(x / scale) + zero_point) and x = (y - zero_point) * scale, with one scale for
// the tensor, for each index of an axis, or for each block of it. ONNX: QuantizeLinear-10 to 28,
// DequantizeLinear-10 to 28.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

namespace {

// The precision of the division: that of the scale, unless the attribute asks for another.
enum class rounding : std::uint8_t { none, half, bfloat16 };

rounding division_rounding(const kernel_spec& spec) {
  constexpr std::int64_t onnx_float16 = 10;
  constexpr std::int64_t onnx_bfloat16 = 16;
  switch (spec.attributes->integer("precision", 0)) {
    case 0: break;
    case onnx_float16: return rounding::half;
    case onnx_bfloat16: return rounding::bfloat16;
    default: return rounding::none;
  }
  switch (spec.inputs[1].desc.type) {
    case dtype::float16: return rounding::half;
    case dtype::bfloat16: return rounding::bfloat16;
    default: return rounding::none;
  }
}

float divided(float x, float scale, rounding to) {
  switch (to) {
    case rounding::half: return static_cast<float>(half{x / scale});
    case rounding::bfloat16: return static_cast<float>(bfloat16{x / scale});
    case rounding::none: break;
  }
  return x / scale;
}

// The first scale of a row, and the zero point that goes with it.
struct row_scale {
  std::int64_t place;
  float scale;
  std::int32_t zero_point;

  row_scale(const kernel_args& args, std::int64_t at)
      : place{at}, scale{real_at(args.inputs[1], at)},
        zero_point{args.inputs.size() > 2 ? integer_at(args.inputs[2], at) : 0} {}
};

template <class X, class Y>
void quantize_rows(const kernel_args& args, const scale_places& places, rounding to,
                   std::int64_t begin, std::int64_t end) {
  for (auto row = begin; row < end; ++row) {
    const auto* x = args.inputs[0].as<const X>() + row * places.inner;
    auto* y = args.outputs[0].as<Y>() + row * places.inner;
    const row_scale first{args, places.of_row(row)};
    const auto scale = first.scale;
    const auto zero_point = static_cast<float>(first.zero_point);
    if (places.inner_stride == 0 && to == rounding::none)
      for (std::int64_t i = 0; i < places.inner; ++i)
        y[i] = quantized<Y>(static_cast<float>(x[i]) / scale, zero_point);
    else
      for (std::int64_t i = 0; i < places.inner; ++i) {
        const row_scale here{args, first.place + i * places.inner_stride};
        y[i] = quantized<Y>(divided(static_cast<float>(x[i]), here.scale, to),
                            static_cast<float>(here.zero_point));
      }
  }
}

template <class X, class Y>
void dequantize_rows(const kernel_args& args, const scale_places& places, std::int64_t begin,
                     std::int64_t end) {
  for (auto row = begin; row < end; ++row) {
    const auto* x = args.inputs[0].as<const X>() + row * places.inner;
    auto* y = args.outputs[0].as<Y>() + row * places.inner;
    const row_scale first{args, places.of_row(row)};
    const auto scale = first.scale;
    const auto value = [](X from, std::int32_t zero_point, float by) {
      using wide = std::conditional_t<sizeof(X) < 4, std::int32_t, std::int64_t>;
      return static_cast<Y>(static_cast<float>(wide{from} - zero_point) * by);
    };
    if (places.inner_stride == 0)
      for (std::int64_t i = 0; i < places.inner; ++i)
        y[i] = value(x[i], first.zero_point, scale);
    else
      for (std::int64_t i = 0; i < places.inner; ++i) {
        const row_scale here{args, first.place + i * places.inner_stride};
        y[i] = value(x[i], here.zero_point, here.scale);
      }
  }
}

// What both operators ask of their inputs.
tl::expected<scale_places, std::string> checked_places(const kernel_spec& spec) {
  const auto& scale = spec.inputs[1].desc.dims;
  const bool same_layout = spec.inputs[0].desc.format == spec.outputs[0].format
                           && spec.attributes->integer("block_size", 0) == 0
                           && element_count(scale) == 1 && scale.size() <= 1;
  if (auto why = same_layout ? not_strided(spec) : not_row_major(spec))
    return decline("{}", *why);
  if (!visit_real(spec.inputs[1].desc.type, [](auto) {}))
    return decline("scale of {}: FP32, FP16 or BF16 expected", to_string(spec.inputs[1].desc.type));
  if (has_input(spec, 2) && spec.inputs[2].desc.elements() != spec.inputs[1].desc.elements())
    return decline("zero point {} for scale {}", to_string(spec.inputs[2].desc.dims),
                   to_string(spec.inputs[1].desc.dims));
  return scale_places_of(*spec.attributes, spec.inputs[0].desc.dims, spec.inputs[1].desc.dims);
}

} // namespace

made_kernel make_reference_quantize_linear(const kernel_spec& spec, weight_cache&) {
  const auto places = checked_places(spec);
  if (!places)
    return tl::unexpected{places.error()};
  const auto from = spec.inputs[0].desc.type;
  const auto to = spec.outputs[0].type;
  made_kernel made = decline("{} to {} is not supported", to_string(from), to_string(to));
  if (has_input(spec, 2) && spec.inputs[2].desc.type != to)
    return decline("zero point of {} for an output of {}", to_string(spec.inputs[2].desc.type),
                   to_string(to));
  const auto make = [&](auto x_tag) {
    visit_quantized(to, [&](auto y_tag) {
      using x_type = typename decltype(x_tag)::type;
      using y_type = typename decltype(y_tag)::type;
      made = make_kernel({}, [places = *places, by = division_rounding(spec),
                              threads = spec.threads](const kernel_args& args) {
        parallel_for(threads, places.rows(), places.inner, [&](auto begin, auto end) {
          quantize_rows<x_type, y_type>(args, places, by, begin, end);
        });
      });
    });
  };
  if (from == dtype::int32)
    make(type_tag<std::int32_t>{});
  else
    visit_real(from, make);
  return made;
}

made_kernel make_reference_dequantize_linear(const kernel_spec& spec, weight_cache&) {
  const auto places = checked_places(spec);
  if (!places)
    return tl::unexpected{places.error()};
  const auto from = spec.inputs[0].desc.type;
  const auto to = spec.outputs[0].type;
  made_kernel made = decline("{} to {} is not supported", to_string(from), to_string(to));
  if (has_input(spec, 2) && spec.inputs[2].desc.type != from)
    return decline("zero point of {} for an input of {}", to_string(spec.inputs[2].desc.type),
                   to_string(from));
  const auto make = [&](auto x_tag) {
    visit_real(to, [&](auto y_tag) {
      using x_type = typename decltype(x_tag)::type;
      using y_type = typename decltype(y_tag)::type;
      made = make_kernel({}, [places = *places, threads = spec.threads](const kernel_args& args) {
        parallel_for(threads, places.rows(), places.inner, [&](auto begin, auto end) {
          dequantize_rows<x_type, y_type>(args, places, begin, end);
        });
      });
    });
  };
  if (from == dtype::int32)
    make(type_tag<std::int32_t>{});
  else
    visit_quantized(from, make);
  return made;
}

} // namespace troupe::cpu
