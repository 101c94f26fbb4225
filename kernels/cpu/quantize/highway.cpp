// QuantizeLinear, DequantizeLinear and the sum of two quantised tensors where one constant scale
// holds for all of a tensor, as vector code. How channels lie does not matter.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/quantize/bytes.hpp"
#include "kernels/cpu/quantize/scaled_bytes.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

namespace {

constexpr std::int64_t piece = 4096; // elements that one member of the team takes at a time

// Calls `use(first, count)` for pieces that cover `elements`, shared among the team.
template <class Use>
void for_each_piece(std::int64_t elements, int threads, const Use& use) {
  parallel_for(threads, (elements + piece - 1) / piece, piece,
               [&](std::int64_t begin, std::int64_t end) {
                 const auto first = begin * piece;
                 use(first, std::min(end * piece, elements) - first);
               });
}

tl::expected<bytes::meaning, std::string> scaling_in_one_layout(const kernel_spec& spec) {
  auto of = scaling_of(spec);
  if (of && spec.inputs[0].desc.format != spec.outputs[0].format)
    return decline("input and output differ in layout");
  return of;
}

} // namespace

made_kernel make_highway_quantize_linear(const kernel_spec& spec, weight_cache&) {
  const auto& y = spec.outputs[0];
  const auto of = scaling_in_one_layout(spec);
  if (!of)
    return tl::unexpected{of.error()};
  return make_kernel({.name = "highway", .unread = 6},
                     [of = *of, within = byte_bounds::of_type(y.type), count = y.elements(),
                      threads = spec.threads](const kernel_args& args) {
                       for_each_piece(count, threads, [&](std::int64_t first, std::int64_t some) {
                         bytes::quantize(args.inputs[0].as<const float>() + first, some, of, within,
                                         args.outputs[0].data + first);
                       });
                     });
}

made_kernel make_highway_dequantize_linear(const kernel_spec& spec, weight_cache&) {
  const auto& y = spec.outputs[0];
  const auto of = scaling_in_one_layout(spec);
  if (!of)
    return tl::unexpected{of.error()};
  return make_kernel({.name = "highway", .unread = 6}, [of = *of, count = y.elements(),
                                                        threads =
                                                            spec.threads](const kernel_args& args) {
    for_each_piece(count, threads, [&](std::int64_t first, std::int64_t some) {
      bytes::dequantize(args.inputs[0].data + first, some, of, args.outputs[0].as<float>() + first);
    });
  });
}

// Inputs: A, its scale and zero point, B, its scale and zero point, those of the sum.
made_kernel make_highway_qlinear_add(const kernel_spec& spec, weight_cache&) {
  const auto& a = spec.inputs[0].desc;
  const auto& b = spec.inputs[3].desc;
  const auto& y = spec.outputs[0];
  if (a.dims != y.dims || b.dims != y.dims || a.format != y.format || b.format != y.format)
    return decline("{} and {} in one layout expected", to_string(a.dims), to_string(b.dims));
  const auto of_a = scaled_bytes_at(spec, a.type, 1, 2);
  const auto of_b = scaled_bytes_at(spec, b.type, 4, 5);
  const auto of_y = scaled_bytes_at(spec, y.type, 6, 7);
  if (!of_a || !of_b || !of_y)
    return tl::unexpected{!of_a ? of_a.error() : !of_b ? of_b.error() : of_y.error()};
  return make_kernel({.name = "highway", .overwrites = 9, .unread = 0xf6},
                     [of_a = *of_a, of_b = *of_b, of_y = *of_y,
                      within = byte_bounds::of(*spec.attributes, y.type), count = y.elements(),
                      threads = spec.threads](const kernel_args& args) {
                       for_each_piece(count, threads, [&](std::int64_t first, std::int64_t some) {
                         bytes::add(args.inputs[0].data + first, of_a, args.inputs[3].data + first,
                                    of_b, some, of_y, within, args.outputs[0].data + first);
                       });
                     });
}

} // namespace troupe::cpu
