// Normalisation of all axes from one on. ONNX: LayerNormalization-17, RMSNormalization-23. Computed
// in double, whatever `stash_type` asks for; the statistics have the type it names.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>
#include <memory>
#include <vector>

namespace troupe::cpu {

namespace {

using offsets = std::shared_ptr<const std::vector<std::int64_t>>;

// Where the parameter of each element of a row lies: null where they lie as the row does.
tl::expected<offsets, std::string> parameter_offsets(std::span<const std::int64_t> row,
                                                     const shape& parameter) {
  if (std::ranges::equal(row, parameter))
    return nullptr;
  if (parameter.size() > row.size())
    return decline("{} does not broadcast to {}", to_string(parameter), to_string(row));
  shape strides(row.size(), 0);
  const auto own = row_major_strides(parameter);
  const auto missing = row.size() - parameter.size();
  for (std::size_t axis = missing; axis < row.size(); ++axis) {
    const auto size = parameter[axis - missing];
    if (size != 1 && size != row[axis])
      return decline("{} does not broadcast to {}", to_string(parameter), to_string(row));
    strides[axis] = size == 1 ? 0 : own[axis - missing];
  }
  auto made = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t i = 0; i < element_count(row); ++i) {
    std::int64_t offset = 0;
    for (auto axis = row.size(), rest = static_cast<std::size_t>(i); axis-- > 0;) {
      offset +=
          static_cast<std::int64_t>(rest % static_cast<std::size_t>(row[axis])) * strides[axis];
      rest /= static_cast<std::size_t>(row[axis]);
    }
    made->push_back(offset);
  }
  return made;
}

struct row_form {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  double epsilon = 0;
  bool centered = true; ///< the mean is taken off first
  offsets scale_at;
  offsets bias_at;
};

void run(const row_form& form, const kernel_args& args) {
  const auto x = input_numbers(args, 0);
  const auto scale = input_numbers(args, 1);
  const auto bias = input_numbers(args, 2);
  const auto y = output_numbers(args, 0);
  const auto mean_out = output_numbers(args, 1);
  const auto inverse_out = output_numbers(args, 2);
  const auto parameter = [](const numbers_in& from, const offsets& at, std::int64_t i) {
    return from[at ? (*at)[static_cast<std::size_t>(i)] : i];
  };
  for (std::int64_t row = 0; row < form.rows; ++row) {
    const auto start = row * form.width;
    double mean = 0;
    for (std::int64_t i = 0; form.centered && i < form.width; ++i)
      mean += x[start + i] / static_cast<double>(form.width);
    double squares = 0;
    for (std::int64_t i = 0; i < form.width; ++i)
      squares += (x[start + i] - mean) * (x[start + i] - mean);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(form.width) + form.epsilon);
    for (std::int64_t i = 0; i < form.width; ++i)
      y.set(start + i, (x[start + i] - mean) * inverse * parameter(scale, form.scale_at, i)
                           + (bias ? parameter(bias, form.bias_at, i) : 0.0));
    if (mean_out)
      mean_out.set(row, mean);
    if (inverse_out)
      inverse_out.set(row, inverse);
  }
}

} // namespace

made_kernel make_reference_layer_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", -1), dims.size());
  if (!axis)
    return decline("axis {} is out of range", spec.attributes->integer("axis", -1));
  const std::span row{dims.data() + *axis, dims.size() - *axis};
  row_form form;
  form.width = element_count(row);
  form.rows = element_count({dims.data(), *axis});
  form.epsilon = static_cast<double>(spec.attributes->real("epsilon", 1e-5F));
  form.centered = spec.op_type == "LayerNormalization";
  for (std::size_t i = 1; i < spec.inputs.size(); ++i) {
    if (!spec.inputs[i].present)
      continue;
    auto at = parameter_offsets(row, spec.inputs[i].desc.dims);
    if (!at)
      return decline("input {}: {}", i, at.error());
    (i == 1 ? form.scale_at : form.bias_at) = *std::move(at);
  }
  const bool in_place = spec.outputs[0] == spec.inputs[0].desc;
  return make_kernel({.overwrites = in_place ? 1U : 0U},
                     [form = std::move(form)](const kernel_args& args) { run(form, args); });
}

} // namespace troupe::cpu
