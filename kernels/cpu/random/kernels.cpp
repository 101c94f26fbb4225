// Tensors of random numbers. ONNX: RandomUniform-22, RandomUniformLike-22, RandomNormal-22,
// RandomNormalLike-22, Bernoulli-22, Multinomial-22.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/random/generator.hpp"
#include "kernels/cpu/random_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

template <class T>
T stored(double value) {
  return static_cast<T>(static_cast<computed<T>>(value));
}

// Output 0 filled with `draw(stream, index)`.
template <class Draw>
made_kernel filling(const kernel_spec& spec, const Draw& draw) {
  return make_floating(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.unread = 1}, [draw, source = random_source{*spec.attributes},
                                       count = spec.outputs[0].elements(),
                                       threads = spec.threads](const kernel_args& args) {
      const auto stream = source.next();
      auto* to = args.outputs[0].as<element>();
      parallel_for(threads, count, 8, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
          to[i] = stored<element>(draw(stream, static_cast<std::uint64_t>(i)));
      });
    });
  });
}

// How many classes of a row lie before the drawn one: `weights` are logarithms, not normalised.
template <class T>
std::int64_t drawn_class(const T* weights, std::int64_t classes, double uniform) {
  const auto weight = [&](std::int64_t i) {
    return static_cast<double>(static_cast<computed<T>>(weights[i]));
  };
  double greatest = weight(0);
  for (std::int64_t i = 1; i < classes; ++i)
    greatest = std::max(greatest, weight(i));
  double sum = 0;
  for (std::int64_t i = 0; i < classes; ++i)
    sum += std::exp(weight(i) - greatest);
  double left = uniform * sum;
  for (std::int64_t i = 0; i + 1 < classes; ++i)
    if ((left -= std::exp(weight(i) - greatest)) < 0)
      return i;
  return classes - 1;
}

} // namespace

made_kernel make_random_uniform(const kernel_spec& spec, weight_cache&) {
  const auto low = static_cast<double>(spec.attributes->real("low", 0.0F));
  const auto high = static_cast<double>(spec.attributes->real("high", 1.0F));
  return filling(spec, [low, high](const random_stream& from, std::uint64_t i) {
    return low + (high - low) * from.uniform(i);
  });
}

made_kernel make_random_normal(const kernel_spec& spec, weight_cache&) {
  const auto mean = static_cast<double>(spec.attributes->real("mean", 0.0F));
  const auto scale = static_cast<double>(spec.attributes->real("scale", 1.0F));
  return filling(spec, [mean, scale](const random_stream& from, std::uint64_t i) {
    return mean + scale * from.normal(i);
  });
}

made_kernel make_bernoulli(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using probability = typename decltype(tag)::type;
    const auto make = [&](auto output) {
      using element = typename decltype(output)::type;
      return make_kernel({}, [source = random_source{*spec.attributes},
                              count = spec.outputs[0].elements()](const kernel_args& args) {
        const auto stream = source.next();
        const auto* chance = args.inputs[0].as<const probability>();
        auto* to = args.outputs[0].as<element>();
        for (std::int64_t i = 0; i < count; ++i) {
          const auto p = static_cast<double>(static_cast<computed<probability>>(chance[i]));
          to[i] = stored<element>(stream.uniform(static_cast<std::uint64_t>(i)) < p ? 1.0 : 0.0);
        }
      });
    };
    return spec.outputs[0].type == dtype::boolean ? made_kernel{make(type_tag<std::uint8_t>{})}
                                                  : make_number(spec.outputs[0].type, make);
  });
}

made_kernel make_multinomial(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& weights = spec.inputs[0].desc.dims;
  const auto& output = spec.outputs[0];
  if (weights.size() != 2 || output.dims.size() != 2 || output.dims[0] != weights[0]
      || (weights[1] == 0 && output.elements() > 0))
    return decline("classes {} do not give samples {}", to_string(weights), to_string(output.dims));
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using logarithm = typename decltype(tag)::type;
    made_kernel made = decline("samples are {}, not INT32 or INT64", to_string(output.type));
    visit_index(output.type, [&](auto index) {
      using element = typename decltype(index)::type;
      made = make_kernel({}, [source = random_source{*spec.attributes}, classes = weights[1],
                              dims = output.dims](const kernel_args& args) {
        const auto stream = source.next();
        const auto* rows = args.inputs[0].as<const logarithm>();
        auto* to = args.outputs[0].as<element>();
        for (std::int64_t i = 0; i < dims[0] * dims[1]; ++i)
          to[i] = static_cast<element>(drawn_class(rows + i / dims[1] * classes, classes,
                                                   stream.uniform(static_cast<std::uint64_t>(i))));
      });
    });
    return made;
  });
}

} // namespace troupe::cpu
