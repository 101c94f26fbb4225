// Normalisation of groups of channels, each image apart: InstanceNormalization is one channel a
// group. ONNX: GroupNormalization-18 (scale and bias per group), -21 (per channel),
// InstanceNormalization-22.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>

namespace troupe::cpu {

namespace {

struct group_form {
  std::int64_t images = 0;
  std::int64_t groups = 1;
  std::int64_t channels = 1; ///< of a group
  std::int64_t places = 1;   ///< of a channel
  double epsilon = 0;
  bool per_group = false; ///< what scale and bias are
  int threads = 1;
};

template <class T>
void normalize(const group_form& form, const T* x, const T* scale, const T* bias,
               std::int64_t group, T* y) {
  const auto value = [](T of) { return static_cast<double>(static_cast<computed<T>>(of)); };
  const auto count = form.channels * form.places;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    sum += value(x[i]);
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i)
    squares += (value(x[i]) - mean) * (value(x[i]) - mean);
  const double inverse = 1 / std::sqrt(squares / static_cast<double>(count) + form.epsilon);
  for (std::int64_t c = 0; c < form.channels; ++c) {
    const auto parameter = form.per_group ? group : group * form.channels + c;
    const double factor = inverse * value(scale[parameter]);
    const double shift = value(bias[parameter]) - mean * factor;
    for (std::int64_t i = c * form.places; i < (c + 1) * form.places; ++i)
      y[i] = static_cast<T>(static_cast<computed<T>>(value(x[i]) * factor + shift));
  }
}

} // namespace

made_kernel make_reference_group_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  if (input.dims.size() < 2)
    return decline("expected channels at axis 1, found {}", to_string(input.dims));
  for (std::size_t i = 1; i < 3; ++i)
    if (spec.inputs[i].desc.type != input.type)
      return decline("inputs differ in datatype");
  const auto channels = input.dims[1];
  const bool grouped = spec.op_type == "GroupNormalization";
  group_form form;
  form.images = input.dims[0];
  form.groups = grouped ? spec.attributes->integer("num_groups", 0) : channels;
  if (form.groups <= 0 || channels % form.groups != 0)
    return decline("{} channels do not make {} groups", channels, form.groups);
  form.channels = channels / form.groups;
  form.places = element_count({input.dims.data() + 2, input.dims.size() - 2});
  form.epsilon = static_cast<double>(spec.attributes->real("epsilon", 1e-5F));
  form.per_group = grouped && spec.version < 21;
  form.threads = spec.threads;
  const auto parameters = form.per_group ? form.groups : channels;
  for (std::size_t i = 1; i < 3; ++i)
    if (spec.inputs[i].desc.elements() != parameters)
      return decline("input {} has {} elements, expected {}", i, spec.inputs[i].desc.elements(),
                     parameters);
  return make_floating(input.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.overwrites = 1}, [form](const kernel_args& args) {
      const auto size = form.channels * form.places;
      if (size == 0)
        return;
      parallel_for(form.threads, form.images * form.groups, size * 4,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (auto item = begin; item < end; ++item)
                       normalize(form, args.inputs[0].as<const element>() + item * size,
                                 args.inputs[1].as<const element>(),
                                 args.inputs[2].as<const element>(), item % form.groups,
                                 args.outputs[0].as<element>() + item * size);
                   });
    });
  });
}

} // namespace troupe::cpu
