// Linear models. ONNX: ai.onnx.ml LinearClassifier-1, LinearRegressor-1.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/post_transform.hpp"
#include "kernels/cpu/ml/table.hpp"
#include "kernels/cpu/parallel.hpp"

namespace troupe::cpu {

namespace {

using floats = std::vector<float>;

// scores[rows, targets] = x * coefficients' + intercepts
struct linear_model {
  table input;
  std::int64_t targets = 0;
  floats coefficients; ///< [targets, columns]
  floats intercepts;   ///< [targets], or none
  post_transform transform = post_transform::none;
  int threads = 1;

  template <class X>
  void score(const X* x, std::span<double> scores) const {
    for (std::size_t target = 0; target < scores.size(); ++target) {
      const auto* by = coefficients.data() + static_cast<std::int64_t>(target) * input.columns;
      double sum = intercepts.empty() ? 0.0 : double{intercepts[target]};
      for (std::int64_t i = 0; i < input.columns; ++i)
        sum += static_cast<double>(x[i]) * double{by[i]};
      scores[target] = sum;
    }
  }

  // Calls `use(row, scores)` for all rows; `scratch` has a place for every score.
  template <class X, class Use>
  void each_row(const X* x, double* scratch, std::int64_t stride, const Use& use) const {
    parallel_for(threads, input.rows, input.columns * targets, [&](auto begin, auto end) {
      for (auto row = begin; row < end; ++row) {
        auto* scores = scratch + row * stride;
        score(x + row * input.columns, {scores, static_cast<std::size_t>(targets)});
        use(row, scores);
      }
    });
  }
};

tl::expected<linear_model, std::string> linear_model_of(const kernel_spec& spec,
                                                        std::int64_t targets) {
  linear_model made;
  made.input = table_of(spec.inputs[0].desc);
  made.coefficients = spec.attributes->get<floats>("coefficients", {});
  made.intercepts = spec.attributes->get<floats>("intercepts", {});
  made.threads = spec.threads;
  made.targets = targets;
  const auto transform = post_transform_of(*spec.attributes);
  if (!transform)
    return tl::unexpected{transform.error()};
  made.transform = *transform;
  const auto count = static_cast<std::int64_t>(made.coefficients.size());
  if (targets < 1 || targets > count || made.input.columns * targets != count)
    return decline("{} coefficients for {} targets of {} features", count, targets,
                   made.input.columns);
  if (!made.intercepts.empty() && static_cast<std::int64_t>(made.intercepts.size()) != targets)
    return decline("{} intercepts for {} targets", made.intercepts.size(), targets);
  return made;
}

double* scratch_of(const kernel_args& args) {
  return reinterpret_cast<double*>(args.workspace.data());
}

} // namespace

made_kernel make_linear_regressor(const kernel_spec& spec, weight_cache&) {
  const auto model = linear_model_of(spec, spec.attributes->integer("targets", 1));
  if (!model)
    return tl::unexpected{model.error()};
  const auto bytes = static_cast<std::size_t>(model->input.rows * model->targets) * sizeof(double);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.workspace_bytes = bytes}, [model = *model](const kernel_args& args) {
      auto* y = args.outputs[0].as<float>();
      model.each_row(args.inputs[0].as<const element>(), scratch_of(args), model.targets,
                     [&](std::int64_t row, double* scores) {
                       apply(model.transform, {scores, static_cast<std::size_t>(model.targets)});
                       std::transform(scores, scores + model.targets, y + row * model.targets,
                                      [](double score) { return static_cast<float>(score); });
                     });
    });
  });
}

made_kernel make_linear_classifier(const kernel_spec& spec, weight_cache&) {
  const auto labels = spec.attributes->integers("classlabels_ints");
  const auto coefficients = spec.attributes->get<floats>("coefficients", {}).size();
  const auto columns = table_of(spec.inputs[0].desc).columns;
  const auto model =
      linear_model_of(spec, columns > 0 ? static_cast<std::int64_t>(coefficients) / columns : 0);
  if (!model)
    return tl::unexpected{model.error()};
  const auto classes = static_cast<std::int64_t>(labels.size());
  const bool second_class = model->targets == 1 && classes == 2;
  if (classes < 2 || (!second_class && classes != model->targets))
    return decline("{} INT64 labels for {} scores", classes, model->targets);
  const auto bytes = static_cast<std::size_t>(model->input.rows * classes) * sizeof(double);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.workspace_bytes = bytes}, [model = *model, labels, classes,
                                                    second_class](const kernel_args& args) {
      auto* label = args.outputs[0].as<std::int64_t>();
      auto* z = args.outputs.size() > 1 ? args.outputs[1].as<float>() : nullptr;
      model.each_row(args.inputs[0].as<const element>(), scratch_of(args), classes,
                     [&](std::int64_t row, double* scores) {
                       if (second_class) {
                         scores[1] = scores[0];
                         scores[0] = -scores[1];
                       }
                       const auto best = std::max_element(scores, scores + classes) - scores;
                       if (label != nullptr)
                         label[row] = labels[static_cast<std::size_t>(best)];
                       apply(model.transform, {scores, static_cast<std::size_t>(classes)});
                       if (z != nullptr)
                         std::transform(scores, scores + classes, z + row * classes,
                                        [](double score) { return static_cast<float>(score); });
                     });
    });
  });
}

} // namespace troupe::cpu
