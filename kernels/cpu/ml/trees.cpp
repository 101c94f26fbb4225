// Decision trees that vote. ONNX: ai.onnx.ml TreeEnsembleClassifier-1 to 5,
// TreeEnsembleRegressor-1 to 5, TreeEnsemble-5.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/ensemble.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/post_transform.hpp"
#include "kernels/cpu/quantize/quantize.hpp"

#include <set>

namespace troupe::cpu {

namespace {

// [N, F], or [F] as one row.
tl::expected<std::pair<std::int64_t, std::int64_t>, std::string>
rows_and_features(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  if (dims.size() == 1)
    return std::pair{std::int64_t{1}, dims[0]};
  if (dims.size() == 2)
    return std::pair{dims[0], dims[1]};
  return decline("input {}, a matrix expected", to_string(dims));
}

// Calls `make(ensemble<T>, type_tag<X>)` with thresholds in the wider of their type and the
// input's.
template <class Make>
made_kernel with_ensemble(const kernel_spec& spec, const written_forest& written,
                          std::int64_t targets, aggregation how, bool doubles, const Make& make) {
  const auto sizes = rows_and_features(spec);
  if (!sizes)
    return tl::unexpected{sizes.error()};
  const auto type = spec.inputs[0].desc.type;
  const auto packed = [&](auto threshold, auto input) -> made_kernel {
    using number = typename decltype(threshold)::type;
    auto trees = pack_forest<number>(written, sizes->second, targets);
    if (!trees)
      return tl::unexpected{std::move(trees).error()};
    return make(ensemble<number>{*std::move(trees), sizes->first, sizes->second, targets, how,
                                 spec.threads},
                input);
  };
  if (type == dtype::float64)
    return packed(type_tag<double>{}, type_tag<double>{});
  const auto as = [&](auto input) {
    return doubles ? packed(type_tag<double>{}, input) : packed(type_tag<float>{}, input);
  };
  switch (type) {
    case dtype::float32: return as(type_tag<float>{});
    case dtype::int64: return as(type_tag<std::int64_t>{});
    case dtype::int32: return as(type_tag<std::int32_t>{});
    default: return decline("input of {}", to_string(type));
  }
}

std::optional<std::vector<double>> base_values(const attribute_map& attributes,
                                               std::int64_t targets) {
  auto base = reals_in(attributes, "base_values");
  if (!base.empty() && base.size() != 1 && base.size() != static_cast<std::size_t>(targets))
    return std::nullopt;
  return base;
}

double* scratch_of(const kernel_args& args) {
  return reinterpret_cast<double*>(args.workspace.data());
}

// A regressor: scores, base values, transformation.
template <class T, class X, class Y>
made_kernel make_regressor(ensemble<T> model, std::vector<double> base, post_transform transform) {
  const auto bytes = model.scratch() * sizeof(double);
  return make_kernel({.workspace_bytes = bytes}, [model = std::move(model), base = std::move(base),
                                                  transform](const kernel_args& args) {
    auto* scores = scratch_of(args);
    model.score(args.inputs[0].as<const X>(), scores);
    auto* y = args.outputs[0].as<Y>();
    const auto targets = static_cast<std::size_t>(model.targets);
    for (std::int64_t row = 0; row < model.rows; ++row) {
      const std::span<double> here{scores + row * model.targets, targets};
      for (std::size_t i = 0; i < targets && !base.empty(); ++i)
        here[i] += base[base.size() == 1 ? 0 : i];
      apply(transform, here);
      for (std::size_t i = 0; i < targets; ++i)
        y[row * model.targets + static_cast<std::int64_t>(i)] = static_cast<Y>(here[i]);
    }
  });
}

// How the scores of a row become probabilities and a label.
struct classifying {
  std::vector<std::int64_t> labels;
  std::vector<double> base;
  post_transform transform = post_transform::none;
  bool one_score = false;   ///< two classes, and votes for one of them only
  std::size_t voted = 0;    ///< that one
  bool all_positive = true; ///< no negative vote

  // `scores` has a place for each class.
  std::int64_t operator()(std::span<double> scores) const {
    if (one_score) {
      const auto sum = scores[voted] + (base.empty() ? 0.0 : base.back());
      const bool yes = sum > (all_positive ? 0.5 : 0.0);
      scores[1] = sum;
      scores[0] = all_positive ? 1.0 - sum : -sum;
      if (!all_positive)
        apply(transform, scores);
      return labels[yes ? 1 : 0];
    }
    for (std::size_t i = 0; i < scores.size() && !base.empty(); ++i)
      scores[i] += base[base.size() == 1 ? 0 : i];
    const auto best = std::ranges::max_element(scores) - scores.begin();
    apply(transform, scores);
    return labels[static_cast<std::size_t>(best)];
  }
};

aggregation aggregation_of(std::string_view name) {
  return name == "AVERAGE" ? aggregation::average
         : name == "MIN"   ? aggregation::min
         : name == "MAX"   ? aggregation::max
                           : aggregation::sum;
}

} // namespace

made_kernel make_tree_ensemble_classifier(const kernel_spec& spec, weight_cache&) {
  const auto& attributes = *spec.attributes;
  classifying rule;
  rule.labels = attributes.integers("classlabels_int64s");
  if (rule.labels.empty())
    return decline("no INT64 class labels");
  const auto written = read_forest(attributes, "class");
  const auto transform = post_transform_of(attributes);
  if (!written || !transform)
    return tl::unexpected{written ? transform.error() : written.error()};
  const auto classes = static_cast<std::int64_t>(rule.labels.size());
  auto base = base_values(attributes, classes);
  if (!base || classes < 2)
    return decline("{} classes, or base values of another number", classes);
  rule.base = *std::move(base);
  rule.transform = *transform;
  std::set<std::int64_t> voted;
  for (const auto& vote : written->votes) {
    voted.insert(vote.target);
    rule.all_positive = rule.all_positive && vote.weight >= 0;
  }
  rule.one_score = classes == 2 && voted.size() == 1 && *voted.begin() < 2;
  rule.voted = rule.one_score ? static_cast<std::size_t>(*voted.begin()) : 0;
  const bool doubles =
      has_doubles(attributes, "nodes_values") || has_doubles(attributes, "class_weights");
  return with_ensemble(
      spec, *written, classes, aggregation::sum, doubles, [&](auto model, auto input) {
        using x_type = typename decltype(input)::type;
        const auto bytes = model.scratch() * sizeof(double);
        return made_kernel{make_kernel(
            {.workspace_bytes = bytes},
            [model = std::move(model), rule = std::move(rule)](const kernel_args& args) {
              auto* scores = scratch_of(args);
              model.score(args.inputs[0].template as<const x_type>(), scores);
              for (std::int64_t row = 0; row < model.rows; ++row) {
                const std::span<double> here{scores + row * model.targets,
                                             static_cast<std::size_t>(model.targets)};
                const auto label = rule(here);
                if (args.outputs[0].data != nullptr)
                  args.outputs[0].template as<std::int64_t>()[row] = label;
                if (args.outputs.size() > 1 && args.outputs[1].data != nullptr)
                  std::ranges::transform(here,
                                         args.outputs[1].template as<float>() + row * model.targets,
                                         [](double score) { return static_cast<float>(score); });
              }
            })};
      });
}

made_kernel make_tree_ensemble_regressor(const kernel_spec& spec, weight_cache&) {
  const auto& attributes = *spec.attributes;
  const auto written = read_forest(attributes, "target");
  const auto transform = post_transform_of(attributes);
  if (!written || !transform)
    return tl::unexpected{written ? transform.error() : written.error()};
  const auto targets = attributes.integer("n_targets", 1);
  auto base = base_values(attributes, targets);
  if (!base || spec.outputs[0].type != dtype::float32)
    return decline("{} base values for {} targets, or an output of {}",
                   reals_in(attributes, "base_values").size(), targets,
                   to_string(spec.outputs[0].type));
  const bool doubles =
      has_doubles(attributes, "nodes_values") || has_doubles(attributes, "target_weights");
  return with_ensemble(
      spec, *written, targets, aggregation_of(attributes.text("aggregate_function", "SUM")),
      doubles, [&](auto model, auto input) {
        using x_type = typename decltype(input)::type;
        using number = std::remove_cvref_t<decltype(model.trees.nodes[0].value)>;
        return make_regressor<number, x_type, float>(std::move(model), *base, *transform);
      });
}

made_kernel make_tree_ensemble(const kernel_spec& spec, weight_cache&) {
  constexpr std::array transforms{post_transform::none, post_transform::softmax,
                                  post_transform::logistic, post_transform::softmax_zero,
                                  post_transform::probit};
  const auto& attributes = *spec.attributes;
  const auto written = read_tree_ensemble(attributes);
  if (!written)
    return tl::unexpected{written.error()};
  const auto how = attributes.integer("aggregate_function", 1);
  const auto transform = attributes.integer("post_transform", 0);
  if (how < 0 || how > 3 || transform < 0 || transform > 4)
    return decline("aggregate_function {} and post_transform {}", how, transform);
  return with_ensemble(
      spec, *written, attributes.integer("n_targets", 1), static_cast<aggregation>(how),
      has_doubles(attributes, "nodes_splits"), [&](auto model, auto input) -> made_kernel {
        using x_type = typename decltype(input)::type;
        using number = std::remove_cvref_t<decltype(model.trees.nodes[0].value)>;
        const auto apply_last = transforms[static_cast<std::size_t>(transform)];
        if constexpr (std::is_same_v<x_type, double>)
          return make_regressor<number, double, double>(std::move(model), {}, apply_last);
        else
          return make_regressor<number, x_type, float>(std::move(model), {}, apply_last);
      });
}

} // namespace troupe::cpu
