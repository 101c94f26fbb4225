// What picks and joins columns. ONNX: ai.onnx.ml ArrayFeatureExtractor-1, FeatureVectorizer-1.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/table.hpp"

#include <cstring>

namespace troupe::cpu {

made_kernel make_array_feature_extractor(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[1].desc.type != dtype::int64 || spec.inputs[0].desc.type == dtype::string)
    return decline("{} picked by {}", to_string(spec.inputs[0].desc.type),
                   to_string(spec.inputs[1].desc.type));
  const auto of = table_of(spec.inputs[0].desc);
  return make_kernel(
      {},
      [of, picked = spec.inputs[1].desc.elements(),
       size = static_cast<std::int64_t>(size_of(spec.inputs[0].desc.type))](
          const kernel_args& args) -> result<void> {
        const auto* indices = args.inputs[1].as<const std::int64_t>();
        for (std::int64_t i = 0; i < picked; ++i)
          if (indices[i] < 0 || indices[i] >= of.columns)
            return fail(errc::invalid_argument, "index in [0, {}) expected, {} found", of.columns,
                        indices[i]);
        auto* to = args.outputs[0].data;
        for (std::int64_t row = 0; row < of.rows; ++row)
          for (std::int64_t i = 0; i < picked; ++i, to += size)
            std::memcpy(to, args.inputs[0].data + (row * of.columns + indices[i]) * size,
                        static_cast<std::size_t>(size));
        return {};
      });
}

made_kernel make_feature_vectorizer(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto wanted = spec.attributes->integers("inputdimensions");
  const auto out = table_of(spec.outputs[0]);
  if (wanted.size() != spec.inputs.size())
    return decline("{} inputdimensions for {} inputs", wanted.size(), spec.inputs.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < 0 || wanted[i] > out.columns || table_of(spec.inputs[i].desc).rows != out.rows)
      return decline("input {} of {} for {} columns of {}", i, to_string(spec.inputs[i].desc.dims),
                     wanted[i], to_string(spec.outputs[0].dims));
    if (!visit_table(spec.inputs[i].desc.type, [](auto) {}))
      return decline("input {} of {}", i, to_string(spec.inputs[i].desc.type));
    sum += wanted[i];
  }
  if (sum != out.columns)
    return decline("{} columns expected, {} found", sum, out.columns);
  return make_kernel({}, [wanted, out](const kernel_args& args) {
    std::int64_t first = 0;
    for (std::size_t input = 0; input < wanted.size(); ++input) {
      const auto& from = args.inputs[input];
      const auto columns = table_of(from.desc).columns;
      visit_table(from.desc.type, [&](auto tag) {
        const auto* x = from.as<const typename decltype(tag)::type>();
        for (std::int64_t row = 0; row < out.rows; ++row)
          for (std::int64_t i = 0; i < wanted[input]; ++i)
            args.outputs[0].as<float>()[row * out.columns + first + i] =
                i < columns ? static_cast<float>(x[row * columns + i]) : 0.0F;
      });
      first += wanted[input];
    }
  });
}

} // namespace troupe::cpu
