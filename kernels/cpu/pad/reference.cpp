// Pad: amounts are an attribute before opset 11 and an input since. ONNX: Pad-2, Pad-13, Pad-19.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::cpu {

namespace {

enum class fill { constant, edge, reflect, wrap };

std::optional<fill> fill_named(std::string_view name) {
  if (name == "constant")
    return fill::constant;
  if (name == "edge")
    return fill::edge;
  if (name == "reflect")
    return fill::reflect;
  if (name == "wrap")
    return fill::wrap;
  return std::nullopt;
}

// Which input position output position `at` shows; -1 for the constant.
std::int64_t source_of(std::int64_t at, std::int64_t size, fill how) {
  if (at >= 0 && at < size)
    return at;
  if (how == fill::constant || size == 0)
    return -1;
  if (how == fill::edge)
    return std::clamp<std::int64_t>(at, 0, size - 1);
  if (how == fill::wrap)
    return ((at % size) + size) % size;
  if (size == 1)
    return 0;
  const auto period = 2 * (size - 1);
  const auto folded = ((at % period) + period) % period;
  return folded < size ? folded : period - folded;
}

struct padding {
  shape dims;                                     ///< of the output
  std::vector<std::vector<std::int64_t>> sources; ///< per axis: input offset in elements, or -1
  std::size_t element_bytes = 4;

  void run(const std::byte* from, std::byte* to, const std::byte* constant) const {
    shape at(dims.size(), 0);
    const auto count = element_count(dims);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = 0;
      bool outside = false;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const auto source = sources[axis][static_cast<std::size_t>(at[axis])];
        outside = outside || source < 0;
        offset += source;
      }
      std::memcpy(to + static_cast<std::size_t>(i) * element_bytes,
                  outside ? constant : from + static_cast<std::size_t>(offset) * element_bytes,
                  element_bytes);
      for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (++at[axis] < dims[axis])
          break;
        at[axis] = 0;
      }
    }
  }
};

result<padding> padding_of(const tensor_desc& from, const tensor_desc& to, fill how,
                           const std::vector<std::int64_t>& amounts,
                           const std::vector<std::int64_t>& axes) {
  const auto rank = from.dims.size();
  const auto listed = axes.empty() ? rank : axes.size();
  if (amounts.size() != 2 * listed)
    return fail(errc::invalid_argument, "Pad: {} amounts for {} axes", amounts.size(), listed);
  shape before(rank, 0);
  shape expected = from.dims;
  for (std::size_t i = 0; i < listed; ++i) {
    const auto axis = axes.empty() ? std::optional{i} : axis_index(axes[i], rank);
    if (!axis)
      return fail(errc::invalid_argument, "Pad: axis {} is out of range for rank {}", axes[i],
                  rank);
    before[*axis] = amounts[i];
    expected[*axis] += amounts[i] + amounts[i + listed];
  }
  if (expected != to.dims)
    return fail(errc::invalid_argument, "Pad: the amounts give {}, the plan expects {}",
                to_string(expected), to_string(to.dims));
  padding made{to.dims, {}, size_of(from.type)};
  const auto strides = row_major_strides(from.dims);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::vector<std::int64_t> sources;
    for (std::int64_t at = 0; at < to.dims[axis]; ++at) {
      const auto source = source_of(at - before[axis], from.dims[axis], how);
      sources.push_back(source < 0 ? -1 : source * strides[axis]);
    }
    made.sources.push_back(std::move(sources));
  }
  return made;
}

void run(const padding& by, const kernel_args& args, const std::array<std::byte, 8>& value) {
  by.run(args.inputs[0].data, args.outputs[0].data,
         has_data(args, 2) ? args.inputs[2].data : value.data());
}

} // namespace

made_kernel make_reference_pad(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  const auto mode = spec.attributes->text("mode", "constant");
  const auto how = fill_named(mode);
  if (!how || from.type == dtype::string)
    return decline("mode '{}' of {} is not supported", mode, to_string(from.type));
  std::array<std::byte, 8> value{};
  std::optional<std::vector<std::int64_t>> amounts;
  std::vector<std::int64_t> axes;
  if (spec.version < 11) {
    if (from.type != dtype::float32)
      return decline("datatype {} needs opset 11", to_string(from.type));
    const float constant = spec.attributes->real("value", 0.0F);
    std::memcpy(value.data(), &constant, sizeof constant);
    amounts = spec.attributes->integers("pads");
  } else {
    if (has_input(spec, 2) && spec.inputs[2].desc.type != from.type)
      return decline("the constant is {}, the data {}", to_string(spec.inputs[2].desc.type),
                     to_string(from.type));
    amounts = constant_integers(spec, 1);
    if (has_input(spec, 3)) {
      const auto listed = constant_integers(spec, 3);
      if (!listed)
        return decline("axes are not an initializer");
      axes = *listed;
    }
  }
  if (!amounts)
    return make_kernel(
        {}, [from, to, how = *how, axes, value](const kernel_args& args) -> result<void> {
          const auto read = integers_in(args.inputs[1], "Pad");
          if (!read)
            return propagate(read);
          const auto by = padding_of(from, to, how, *read, axes);
          if (!by)
            return propagate(by);
          run(*by, args, value);
          return {};
        });
  auto by = padding_of(from, to, *how, *amounts, axes);
  if (!by)
    return decline("{}", by.error().text);
  return make_kernel(
      {}, [by = *std::move(by), value](const kernel_args& args) { run(by, args, value); });
}

} // namespace troupe::cpu
