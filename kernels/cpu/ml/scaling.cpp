// What is done to each feature of a row. ONNX: ai.onnx.ml Scaler-1, Normalizer-1, Imputer-1,
// Binarizer-1.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/table.hpp"
#include "kernels/cpu/parallel.hpp"

#include <cmath>

namespace troupe::cpu {

namespace {

using floats = std::vector<float>;

enum class norm : std::uint8_t { max, l1, l2 };

std::optional<norm> norm_of(std::string_view name) {
  if (name == "MAX")
    return norm::max;
  if (name == "L1")
    return norm::l1;
  if (name == "L2")
    return norm::l2;
  return std::nullopt;
}

template <class T>
double length_of(norm by, const T* x, std::int64_t count) {
  double length = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(x[i]);
    switch (by) {
      case norm::max: length = std::max(length, std::abs(value)); break;
      case norm::l1: length += std::abs(value); break;
      case norm::l2: length += value * value; break;
    }
  }
  return by == norm::l2 ? std::sqrt(length) : length;
}

template <class T>
bool is_replaced(T value, T wanted) {
  return value == wanted || (value != value && wanted != wanted);
}

} // namespace

made_kernel make_scaler(const kernel_spec& spec, weight_cache&) {
  const auto of = table_of(spec.inputs[0].desc);
  auto offset = spec.attributes->get<floats>("offset", {});
  auto scale = spec.attributes->get<floats>("scale", {});
  const auto fits = [&](const floats& numbers) {
    return numbers.size() <= 1 || static_cast<std::int64_t>(numbers.size()) == of.columns;
  };
  if (!fits(offset) || !fits(scale))
    return decline("{} offsets and {} scales for {} features", offset.size(), scale.size(),
                   of.columns);
  const auto spread = [&](floats& numbers, float fallback) {
    if (numbers.size() <= 1)
      numbers.assign(static_cast<std::size_t>(of.columns), numbers.empty() ? fallback : numbers[0]);
  };
  spread(offset, 0);
  spread(scale, 1);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.overwrites = sizeof(element) == 4 ? 1U : 0U},
                       [of, offset, scale, threads = spec.threads](const kernel_args& args) {
                         const auto* x = args.inputs[0].as<const element>();
                         auto* y = args.outputs[0].as<float>();
                         parallel_for(threads, of.rows, of.columns, [&](auto begin, auto end) {
                           for (auto row = begin; row < end; ++row)
                             for (std::int64_t i = 0; i < of.columns; ++i) {
                               const auto at = row * of.columns + i;
                               const auto place = static_cast<std::size_t>(i);
                               y[at] = (static_cast<float>(x[at]) - offset[place]) * scale[place];
                             }
                         });
                       });
  });
}

made_kernel make_normalizer(const kernel_spec& spec, weight_cache&) {
  const auto of = table_of(spec.inputs[0].desc);
  const auto by = norm_of(spec.attributes->text("norm", "MAX"));
  if (!by)
    return decline("norm {}", spec.attributes->text("norm"));
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [of, by = *by](const kernel_args& args) {
      for (std::int64_t row = 0; row < of.rows; ++row) {
        const auto* x = args.inputs[0].as<const element>() + row * of.columns;
        auto* y = args.outputs[0].as<float>() + row * of.columns;
        const auto length = length_of(by, x, of.columns);
        for (std::int64_t i = 0; i < of.columns; ++i)
          y[i] = static_cast<float>(static_cast<double>(x[i]) / (length == 0 ? 1.0 : length));
      }
    });
  });
}

made_kernel make_imputer(const kernel_spec& spec, weight_cache&) {
  const auto of = table_of(spec.inputs[0].desc);
  return make_for_table(spec, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    std::vector<element> imputed;
    element replaced{};
    const auto read = [&](const auto& numbers, auto wanted) {
      for (const auto number : numbers)
        imputed.push_back(static_cast<element>(number));
      replaced = static_cast<element>(wanted);
    };
    if constexpr (std::is_floating_point_v<element>)
      read(spec.attributes->get<floats>("imputed_value_floats", {}),
           spec.attributes->real("replaced_value_float", 0));
    else
      read(spec.attributes->integers("imputed_value_int64s"),
           spec.attributes->integer("replaced_value_int64", 0));
    if (imputed.empty()
        || (imputed.size() != 1 && static_cast<std::int64_t>(imputed.size()) != of.columns))
      return decline("{} imputed values of this type for {} features", imputed.size(), of.columns);
    return make_kernel({.overwrites = 1}, [of, imputed, replaced](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      auto* y = args.outputs[0].as<element>();
      for (std::int64_t row = 0; row < of.rows; ++row)
        for (std::int64_t i = 0; i < of.columns; ++i) {
          const auto at = row * of.columns + i;
          y[at] = is_replaced(x[at], replaced)
                      ? imputed[imputed.size() == 1 ? 0 : static_cast<std::size_t>(i)]
                      : x[at];
        }
    });
  });
}

made_kernel make_binarizer(const kernel_spec& spec, weight_cache&) {
  const auto count = spec.inputs[0].desc.elements();
  const auto threshold = spec.attributes->real("threshold", 0);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.overwrites = 1}, [count, threshold](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      auto* y = args.outputs[0].as<element>();
      for (std::int64_t i = 0; i < count; ++i)
        y[i] = static_cast<element>(static_cast<double>(x[i]) > double{threshold} ? 1 : 0);
    });
  });
}

} // namespace troupe::cpu
