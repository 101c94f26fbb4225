// BatchNormalization with given statistics, or, in training mode, with those of the batch, which
// then move the running ones. ONNX: BatchNormalization-7 (where `spatial` 0 means statistics per
// position), -9, -14, -15.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace troupe::cpu {

namespace {

struct batch_form {
  iteration loops; ///< x, and its place among the statistics
  std::int64_t statistics = 0;
  double epsilon = 0;
  double momentum = 0;
  bool training = false;
};

template <class Use>
void for_each_element(const iteration& loops, const Use& use) {
  for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
    for (std::int64_t i = 0; i < loops.inner(); ++i)
      use(row * loops.inner() + i, offsets[1] + i * loops.strides[1].back());
  });
}

void normalize(const batch_form& form, const kernel_args& args, std::span<double> mean,
               std::span<double> variance) {
  const auto x = input_numbers(args, 0);
  const auto scale = input_numbers(args, 1);
  const auto bias = input_numbers(args, 2);
  const auto y = output_numbers(args, 0);
  for_each_element(form.loops, [&](std::int64_t at, std::int64_t c) {
    const auto place = static_cast<std::size_t>(c);
    y.set(at,
          (x[at] - mean[place]) / std::sqrt(variance[place] + form.epsilon) * scale[c] + bias[c]);
  });
}

// Of the population, as the operator's definition has it.
void measure(const batch_form& form, const numbers_in& x, std::span<double> mean,
             std::span<double> variance) {
  std::ranges::fill(mean, 0.0);
  std::ranges::fill(variance, 0.0);
  const auto count = static_cast<double>(element_count(form.loops.dims)
                                         / std::max<std::int64_t>(form.statistics, 1));
  for_each_element(form.loops, [&](std::int64_t at, std::int64_t c) {
    mean[static_cast<std::size_t>(c)] += x[at] / count;
  });
  for_each_element(form.loops, [&](std::int64_t at, std::int64_t c) {
    const double off = x[at] - mean[static_cast<std::size_t>(c)];
    variance[static_cast<std::size_t>(c)] += off * off / count;
  });
}

void run(const batch_form& form, const kernel_args& args) {
  const auto count = static_cast<std::size_t>(form.statistics);
  const std::span room{reinterpret_cast<double*>(args.workspace.data()), 2 * count};
  const auto mean = room.first(count);
  const auto variance = room.last(count);
  const auto given_mean = input_numbers(args, 3);
  const auto given_variance = input_numbers(args, 4);
  if (form.training) {
    measure(form, input_numbers(args, 0), mean, variance);
    const auto moved = [&](const numbers_in& old, std::span<const double> now, std::size_t output) {
      if (const auto to = output_numbers(args, output))
        for (std::int64_t c = 0; c < form.statistics; ++c)
          to.set(c,
                 old[c] * form.momentum + now[static_cast<std::size_t>(c)] * (1 - form.momentum));
    };
    moved(given_mean, mean, 1);
    moved(given_variance, variance, 2);
  } else {
    for (std::int64_t c = 0; c < form.statistics; ++c) {
      mean[static_cast<std::size_t>(c)] = given_mean[c];
      variance[static_cast<std::size_t>(c)] = given_variance[c];
    }
  }
  normalize(form, args, mean, variance);
}

} // namespace

made_kernel make_reference_batch_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  for (const auto& each : spec.inputs)
    if (!is_floating(each.desc.type))
      return decline("datatype {} is not supported", to_string(each.desc.type));
  batch_form form;
  form.training = spec.version >= 14 && spec.attributes->integer("training_mode", 0) != 0;
  for (std::size_t i = 1; i < spec.outputs.size(); ++i)
    if (has_output(spec, i) && !form.training)
      return decline("output {} exists in training mode only", i);
  if (input.dims.size() < 2 || input.format != spec.outputs[0].format)
    return decline("expected channels at axis 1, found {}", to_string(input.dims));
  form.epsilon = static_cast<double>(spec.attributes->real("epsilon", 1e-5F));
  form.momentum = static_cast<double>(spec.attributes->real("momentum", 0.9F));
  // The statistics are broadcast as [1, C, 1, …], or as [1, C, D1, …] where they are per position.
  tensor_desc statistics{dtype::float32, shape(input.dims.size(), 1)};
  const bool per_position = spec.version < 9 && spec.attributes->integer("spatial", 1) == 0;
  for (std::size_t axis = 1; axis < (per_position ? input.dims.size() : 2); ++axis)
    statistics.dims[axis] = input.dims[axis];
  form.statistics = statistics.elements();
  for (std::size_t i = 1; i < 5; ++i)
    if (spec.inputs[i].desc.elements() != form.statistics)
      return decline("input {} has {} elements, expected {}", i, spec.inputs[i].desc.elements(),
                     form.statistics);
  const std::array operands{input, statistics};
  auto loops = iterate(input, operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  form.loops = *std::move(loops);
  const auto bytes = static_cast<std::size_t>(form.statistics) * 2 * sizeof(double);
  return make_kernel({.workspace_bytes = bytes, .overwrites = form.training ? 0U : 1U},
                     [form = std::move(form)](const kernel_args& args) { run(form, args); });
}

} // namespace troupe::cpu
