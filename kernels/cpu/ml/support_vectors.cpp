// Support vector machines. ONNX: ai.onnx.ml SVMClassifier-1, SVMRegressor-1.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/ml/post_transform.hpp"
#include "kernels/cpu/ml/svm.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe::cpu {

namespace {

using floats = std::vector<float>;

struct machine {
  table input;
  svm_kernel kernel;
  floats coefficients;
  floats rho;
  floats prob_a;
  floats prob_b;
  post_transform transform = post_transform::none;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> first; ///< support vector of each class, and one past the last
  bool all_positive = false;
  int threads = 1;

  [[nodiscard]] std::int64_t classes() const { return static_cast<std::int64_t>(labels.size()); }
  [[nodiscard]] std::int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  [[nodiscard]] bool by_vectors() const { return first.size() > 1; }
  [[nodiscard]] bool has_probabilities() const { return by_vectors() && !prob_a.empty(); }
  [[nodiscard]] std::int64_t scores() const {
    return classes() == 2 ? 2 : has_probabilities() || !by_vectors() ? classes() : pairs();
  }

  /// Doubles that a row needs: features, kernel values, pair scores, pair probabilities, coupling.
  [[nodiscard]] std::int64_t scratch() const {
    const auto k = classes();
    return input.columns + kernel.count() + std::max(pairs(), k) + k * k + k * (k + 1) + 2 * k + 2;
  }
};

// How a row is scored: its class, and the scores as the operator writes them.
class row_scorer {
public:
  row_scorer(const machine& of, double* scratch)
      : of_{of}, features_{scratch}, kernels_{features_ + of.input.columns},
        scores_{kernels_ + of.kernel.count()}, pairs_{scores_ + std::max(of.pairs(), of.classes())},
        coupling_{pairs_ + of.classes() * of.classes()},
        votes_{coupling_ + of.classes() * (of.classes() + 1)}, result_{votes_ + of.classes()} {}

  [[nodiscard]] double* features() const { return features_; }

  std::int64_t classify(float* z) {
    if (of_.by_vectors())
      vote();
    else
      linear();
    auto count = of_.by_vectors() ? of_.pairs() : of_.classes();
    const auto* ranked = of_.by_vectors() ? votes_ : scores_;
    const auto best = std::max_element(ranked, ranked + of_.classes()) - ranked;
    auto label = of_.labels[static_cast<std::size_t>(best)];
    auto* written = scores_;
    if (of_.has_probabilities()) {
      probabilities();
      written = result_;
      count = of_.classes();
    } else if (of_.classes() == 2 && of_.by_vectors() && of_.all_positive && ranked[best] >= 0.5) {
      label = of_.labels[1];
    }
    if (count == 1) { // two classes: the score of their only pair, and its opposite
      written[1] = written[0];
      written[0] = -written[1];
      count = 2;
    }
    apply(of_.transform, {written, static_cast<std::size_t>(count)});
    if (z != nullptr)
      std::transform(written, written + count, z,
                     [](double score) { return static_cast<float>(score); });
    return label;
  }

private:
  void linear() {
    for (std::int64_t c = 0; c < of_.classes(); ++c)
      scores_[c] = double{of_.rho[0]}
                   + of_.kernel(features_, of_.coefficients.data() + c * of_.input.columns);
  }

  void vote() {
    const auto count = of_.kernel.count();
    for (std::int64_t i = 0; i < count; ++i)
      kernels_[i] = of_.kernel(features_, of_.kernel.vectors.data() + i * of_.input.columns);
    std::fill_n(votes_, of_.classes(), 0.0);
    std::int64_t pair = 0;
    for (std::int64_t i = 0; i < of_.classes(); ++i)
      for (auto j = i + 1; j < of_.classes(); ++j, ++pair) {
        scores_[pair] =
            double{of_.rho[static_cast<std::size_t>(pair)]} + partial(j - 1, i) + partial(i, j);
        votes_[scores_[pair] > 0 ? i : j] += 1;
      }
  }

  // The support vectors of a class, by row `row` of the coefficients.
  double partial(std::int64_t row, std::int64_t of_class) const {
    const auto* by = of_.coefficients.data() + row * of_.kernel.count();
    double sum = 0;
    for (auto i = of_.first[static_cast<std::size_t>(of_class)];
         i < of_.first[static_cast<std::size_t>(of_class) + 1]; ++i)
      sum += double{by[i]} * kernels_[i];
    return sum;
  }

  void probabilities() {
    const auto k = of_.classes();
    std::int64_t pair = 0;
    for (std::int64_t i = 0; i < k; ++i)
      for (auto j = i + 1; j < k; ++j, ++pair) {
        const auto at = static_cast<std::size_t>(pair);
        const double x = scores_[pair] * double{of_.prob_a[at]} + double{of_.prob_b[at]};
        const double chance = std::clamp(1.0 / (1.0 + std::exp(x)), 1e-7, 1.0 - 1e-7);
        pairs_[i * k + j] = chance;
        pairs_[j * k + i] = 1.0 - chance;
      }
    couple_pairs(k, pairs_, result_, coupling_);
  }

  const machine& of_;
  double* features_;
  double* kernels_;
  double* scores_;
  double* pairs_;
  double* coupling_;
  double* votes_;
  double* result_;
};

tl::expected<machine, std::string> machine_of(const kernel_spec& spec) {
  const auto& attributes = *spec.attributes;
  machine made;
  made.input = table_of(spec.inputs[0].desc);
  auto kernel = svm_kernel_of(attributes, made.input.columns);
  const auto transform = post_transform_of(attributes);
  if (!kernel || !transform)
    return tl::unexpected{kernel ? transform.error() : kernel.error()};
  made.kernel = *std::move(kernel);
  made.transform = *transform;
  made.coefficients = attributes.get<floats>("coefficients", {});
  made.rho = attributes.get<floats>("rho", {});
  made.prob_a = attributes.get<floats>("prob_a", {});
  made.prob_b = attributes.get<floats>("prob_b", {});
  made.labels = attributes.integers("classlabels_ints");
  made.threads = spec.threads;
  made.all_positive = std::ranges::all_of(made.coefficients, [](float c) { return c >= 0; });
  if (made.classes() < 2 || made.classes() > 4096 || made.rho.empty())
    return decline("{} INT64 labels and {} values of rho", made.classes(), made.rho.size());
  const auto count = static_cast<std::int64_t>(made.coefficients.size());
  const auto per_class = attributes.integers("vectors_per_class");
  if (per_class.empty()) {
    made.kernel.what = svm_kernel::kind::linear;
    made.kernel.vectors.clear();
    if (count != made.classes() * made.input.columns)
      return decline("{} coefficients for {} classes of {} features", count, made.classes(),
                     made.input.columns);
    return made;
  }
  made.first.push_back(0);
  for (const auto vectors : per_class) {
    if (vectors < 0 || vectors > made.kernel.count())
      return decline("{} support vectors of a class", vectors);
    made.first.push_back(made.first.back() + vectors);
  }
  const auto pairs = static_cast<std::size_t>(made.pairs());
  if (static_cast<std::int64_t>(per_class.size()) != made.classes()
      || made.first.back() != made.kernel.count()
      || count != (made.classes() - 1) * made.kernel.count() || made.rho.size() < pairs
      || made.prob_a.size() != made.prob_b.size()
      || (!made.prob_a.empty() && made.prob_a.size() < pairs))
    return decline("{} support vectors, {} coefficients and {} values of rho for {} classes",
                   made.kernel.count(), count, made.rho.size(), made.classes());
  return made;
}

double* scratch_of(const kernel_args& args) {
  return reinterpret_cast<double*>(args.workspace.data());
}

} // namespace

made_kernel make_svm_classifier(const kernel_spec& spec, weight_cache&) {
  auto model = machine_of(spec);
  if (!model)
    return tl::unexpected{std::move(model).error()};
  if (spec.outputs.size() > 1 && spec.outputs[1].dims.back() != model->scores())
    return decline("{} scores where {} are made", spec.outputs[1].dims.back(), model->scores());
  const auto bytes =
      static_cast<std::size_t>(model->input.rows * model->scratch()) * sizeof(double);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.workspace_bytes = bytes}, [model = *model](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      auto* labels = args.outputs[0].as<std::int64_t>();
      auto* z = args.outputs.size() > 1 ? args.outputs[1].as<float>() : nullptr;
      const auto cost = model.scratch() * model.input.columns;
      parallel_for(model.threads, model.input.rows, cost, [&](auto begin, auto end) {
        for (auto row = begin; row < end; ++row) {
          row_scorer scorer{model, scratch_of(args) + row * model.scratch()};
          std::transform(x + row * model.input.columns, x + (row + 1) * model.input.columns,
                         scorer.features(),
                         [](element value) { return static_cast<double>(value); });
          const auto label = scorer.classify(z == nullptr ? nullptr : z + row * model.scores());
          if (labels != nullptr)
            labels[row] = label;
        }
      });
    });
  });
}

made_kernel make_svm_regressor(const kernel_spec& spec, weight_cache&) {
  const auto input = table_of(spec.inputs[0].desc);
  const auto& attributes = *spec.attributes;
  auto kernel = svm_kernel_of(attributes, input.columns);
  const auto transform = post_transform_of(attributes);
  if (!kernel || !transform)
    return tl::unexpected{kernel ? transform.error() : kernel.error()};
  const auto coefficients = attributes.get<floats>("coefficients", {});
  const auto rho = attributes.get<floats>("rho", {});
  const auto supports = attributes.integer("n_supports", 0);
  if (supports == 0) { // one linear function, whose weights are the coefficients
    kernel->what = svm_kernel::kind::linear;
    kernel->vectors = coefficients;
  }
  const auto count = supports == 0 ? input.columns : supports;
  if (rho.empty() || static_cast<std::int64_t>(coefficients.size()) != count
      || kernel->count() != (supports == 0 ? 1 : supports))
    return decline("{} coefficients and {} support vectors where n_supports is {}",
                   coefficients.size(), kernel->count(), supports);
  const bool one_class = attributes.integer("one_class", 0) != 0;
  const auto bytes = static_cast<std::size_t>(input.elements()) * sizeof(double);
  return make_for_table(spec, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.workspace_bytes = bytes}, [kernel = *kernel, input, coefficients,
                                                    one_class, supports, rho = rho[0],
                                                    transform =
                                                        *transform](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      auto* y = args.outputs[0].as<float>();
      for (std::int64_t row = 0; row < input.rows; ++row) {
        auto* features = scratch_of(args) + row * input.columns;
        std::transform(x + row * input.columns, x + (row + 1) * input.columns, features,
                       [](element value) { return static_cast<double>(value); });
        double sum = double{rho};
        for (std::int64_t i = 0; i < kernel.count(); ++i) {
          const auto value = kernel(features, kernel.vectors.data() + i * input.columns);
          sum += supports == 0 ? value : value * double{coefficients[static_cast<std::size_t>(i)]};
        }
        if (one_class)
          sum = sum > 0 ? 1 : -1;
        apply(transform, {&sum, 1});
        y[row] = static_cast<float>(sum);
      }
    });
  });
}

} // namespace troupe::cpu
