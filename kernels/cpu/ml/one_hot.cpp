// ONNX: ai.onnx.ml OneHotEncoder-1 for numbers, which count as the integer they are cut to.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/table.hpp"

#include <unordered_map>

namespace troupe::cpu {

namespace {

template <class T>
std::optional<std::int64_t> integer_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T limit = 9.2e18F;
    if (!(x > -limit && x < limit))
      return std::nullopt;
  }
  return static_cast<std::int64_t>(x);
}

} // namespace

made_kernel make_one_hot_encoder(const kernel_spec& spec, weight_cache&) {
  std::unordered_map<std::int64_t, std::int64_t> places;
  const auto categories = spec.attributes->integers("cats_int64s");
  for (std::size_t i = 0; i < categories.size(); ++i)
    places[categories[i]] = static_cast<std::int64_t>(i);
  const bool zeros = spec.attributes->integer("zeros", 1) != 0;
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({},
                       [places, zeros, count = spec.inputs[0].desc.elements(),
                        width = static_cast<std::int64_t>(categories.size())](
                           const kernel_args& args) -> result<void> {
                         const auto* x = args.inputs[0].as<const element>();
                         auto* y = args.outputs[0].as<float>();
                         std::fill_n(y, count * width, 0.0F);
                         for (std::int64_t i = 0; i < count; ++i) {
                           const auto number = integer_of(x[i]);
                           const auto at = number ? places.find(*number) : places.end();
                           if (at != places.end())
                             y[i * width + at->second] = 1;
                           else if (!zeros)
                             return fail(errc::invalid_argument,
                                         "element {} is none of the {} categories", i, width);
                         }
                         return {};
                       });
  });
}

} // namespace troupe::cpu
