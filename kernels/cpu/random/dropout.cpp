// ONNX: Dropout-22. It drops in a model that trains, or that does so at inference on purpose.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/random/generator.hpp"
#include "kernels/cpu/random_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

struct dropout_rule {
  random_source source;
  std::optional<dtype> ratio_type; ///< none: a ratio of a half
  std::int64_t count;
  std::optional<dtype> mask_type; ///< BOOL since opset 10, before that the type of the data
  bool may_train;                 ///< since opset 12 input 2 says whether it does
};

result<double> ratio_of(const dropout_rule& rule, const kernel_args& args) {
  double ratio = 0.5;
  if (rule.ratio_type)
    visit_floating(*rule.ratio_type, [&](auto tag) {
      using element = typename decltype(tag)::type;
      ratio = static_cast<double>(static_cast<computed<element>>(args.inputs[1].as<element>()[0]));
    });
  if (!(ratio >= 0 && ratio < 1))
    return fail(errc::invalid_argument, "a ratio in [0, 1) expected, {} found", ratio);
  return ratio;
}

// Output 1, if it is wanted: whether each element is kept.
template <class T>
class mask_writer {
public:
  mask_writer(const dropout_rule& rule, const kernel_args& args) {
    if (rule.mask_type == dtype::boolean)
      truths_ = args.outputs[1].as<std::uint8_t>();
    else if (rule.mask_type)
      numbers_ = args.outputs[1].as<T>();
  }
  void operator()(std::int64_t index, bool kept) const {
    if (truths_ != nullptr)
      truths_[index] = kept ? 1 : 0;
    else if (numbers_ != nullptr)
      numbers_[index] = static_cast<T>(static_cast<computed<T>>(kept ? 1 : 0));
  }

private:
  std::uint8_t* truths_ = nullptr;
  T* numbers_ = nullptr;
};

template <class T>
result<void> run(const dropout_rule& rule, const kernel_args& args) {
  const bool trains = rule.may_train && args.inputs[2].as<std::uint8_t>()[0] != 0;
  const auto ratio = trains ? ratio_of(rule, args) : result<double>{0.0};
  if (!ratio)
    return propagate(ratio);
  const auto* from = args.inputs[0].as<T>();
  auto* to = args.outputs[0].as<T>();
  const mask_writer<T> mask{rule, args};
  if (*ratio == 0) {
    std::copy_n(from, rule.count, to);
    for (std::int64_t i = 0; i < rule.count; ++i)
      mask(i, true);
    return {};
  }
  const auto stream = rule.source.next();
  const auto scale = static_cast<computed<T>>(1 / (1 - *ratio));
  for (std::int64_t i = 0; i < rule.count; ++i) {
    const bool kept = stream.uniform(static_cast<std::uint64_t>(i)) >= *ratio;
    to[i] = static_cast<T>(kept ? static_cast<computed<T>>(from[i]) * scale : computed<T>{0});
    mask(i, kept);
  }
  return {};
}

} // namespace

made_kernel make_dropout(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const bool may_train = has_input(spec, 2);
  if (may_train
      && (spec.inputs[2].desc.type != dtype::boolean || spec.inputs[2].desc.elements() != 1))
    return decline("one BOOL expected in input 2");
  dropout_rule rule{random_source{*spec.attributes}, std::nullopt, spec.outputs[0].elements(),
                    std::nullopt, may_train};
  if (has_output(spec, 1)) {
    rule.mask_type = spec.outputs[1].type;
    if (*rule.mask_type != dtype::boolean && *rule.mask_type != spec.outputs[0].type)
      return decline("a mask of {} is not supported", to_string(*rule.mask_type));
  }
  if (has_input(spec, 1)) {
    rule.ratio_type = spec.inputs[1].desc.type;
    if (spec.inputs[1].desc.elements() != 1 || !visit_floating(*rule.ratio_type, [](auto) {}))
      return decline("a ratio of one floating-point number expected, {} {} found",
                     to_string(*rule.ratio_type), to_string(spec.inputs[1].desc.dims));
  }
  return make_floating(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [rule](const kernel_args& args) { return run<element>(rule, args); });
  });
}

} // namespace troupe::cpu
