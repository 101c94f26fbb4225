// Losses of classifiers. ONNX: NegativeLogLikelihoodLoss-22, SoftmaxCrossEntropyLoss-13, which is
// the same of its scores' LogSoftmax.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace troupe::cpu {

namespace {

struct loss_form {
  std::int64_t samples = 0; ///< N
  std::int64_t classes = 0;
  std::int64_t places = 1; ///< of a sample and class
  std::optional<std::int64_t> ignored;
  bool softmax = false;
  bool each = false; ///< reduction "none"
  bool mean = false;
};

// log(sum(exp(x))) over the classes of a place.
double log_sum(const numbers_in& x, std::int64_t start, const loss_form& form) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < form.classes; ++c)
    most = std::max(most, x[start + c * form.places]);
  double sum = 0;
  for (std::int64_t c = 0; c < form.classes; ++c)
    sum += std::exp(x[start + c * form.places] - most);
  return most + std::log(sum);
}

result<void> run(const loss_form& form, const kernel_args& args) {
  const auto x = input_numbers(args, 0);
  const auto weights = input_numbers(args, 2);
  const auto loss = output_numbers(args, 0);
  const auto log_probabilities = output_numbers(args, 1);
  const auto& targets = args.inputs[1];
  double total = 0;
  double total_weight = 0;
  for (std::int64_t at = 0; at < form.samples * form.places; ++at) {
    const auto start = at / form.places * form.classes * form.places + at % form.places;
    const double shift = form.softmax ? log_sum(x, start, form) : 0.0;
    if (log_probabilities)
      for (std::int64_t c = 0; c < form.classes; ++c)
        log_probabilities.set(start + c * form.places, x[start + c * form.places] - shift);
    const std::int64_t target = targets.desc.type == dtype::int32
                                    ? targets.as<const std::int32_t>()[at]
                                    : targets.as<const std::int64_t>()[at];
    double own = 0;
    if (target != form.ignored) {
      if (target < 0 || target >= form.classes)
        return fail(errc::invalid_argument, "a class in [0, {}) expected, {} found", form.classes,
                    target);
      const double weight = weights ? weights[target] : 1.0;
      own = (shift - x[start + target * form.places]) * weight;
      total_weight += weight;
    }
    total += own;
    if (form.each)
      loss.set(at, own);
  }
  if (!form.each)
    loss.set(0, form.mean ? total / total_weight : total);
  return {};
}

} // namespace

made_kernel make_reference_loss(const kernel_spec& spec, weight_cache&) {
  for (std::size_t input : {0U, 2U})
    if (auto why = not_floating(spec, input, input + 1))
      return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto& targets = spec.inputs[1].desc;
  if (dims.size() < 2 || (targets.type != dtype::int64 && targets.type != dtype::int32))
    return decline("classes at axis 1 and integer targets expected, {} and {} found",
                   to_string(dims), to_string(targets.type));
  loss_form form;
  form.samples = dims[0];
  form.classes = dims[1];
  form.places = element_count({dims.data() + 2, dims.size() - 2});
  if (targets.elements() != form.samples * form.places)
    return decline("a target for each of {} expected, {} found", to_string(dims),
                   to_string(targets.dims));
  if (has_input(spec, 2) && spec.inputs[2].desc.elements() != form.classes)
    return decline("{} weights expected, {} found", form.classes, spec.inputs[2].desc.elements());
  if (spec.attributes->has("ignore_index"))
    form.ignored = spec.attributes->integer("ignore_index", 0);
  const auto reduction = spec.attributes->text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return decline("reduction none, sum or mean expected, '{}' found", reduction);
  form.each = reduction == "none";
  form.mean = reduction == "mean";
  form.softmax = spec.op_type == "SoftmaxCrossEntropyLoss";
  return make_kernel({}, [form](const kernel_args& args) { return run(form, args); });
}

} // namespace troupe::cpu
