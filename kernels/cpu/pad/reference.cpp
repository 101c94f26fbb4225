// Pad: amounts are an attribute before opset 11 and an input since. ONNX: Pad-2, Pad-13, Pad-25.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

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
  shape dims;                                     ///< of the output, at least one axis
  std::vector<std::vector<std::int64_t>> sources; ///< per axis: input offset in elements, or -1
  std::int64_t first = 0; ///< of the last axis: the positions that lie in the input too, in a run
  std::int64_t last = 0;
  dtype type = dtype::float32;

  // Where a row of the output begins in the input, or -1 if it lies outside.
  std::int64_t row_source(std::int64_t row) const {
    std::int64_t offset = 0;
    for (std::size_t axis = dims.size() - 1; axis-- > 0; row /= dims[axis]) {
      const auto source = sources[axis][static_cast<std::size_t>(row % dims[axis])];
      if (source < 0)
        return -1;
      offset += source;
    }
    return offset;
  }

  template <class Bits>
  void fill_row(const Bits* from, Bits* to, Bits constant) const {
    const auto& along = sources.back();
    const auto one = [&](std::int64_t at) {
      const auto source = along[static_cast<std::size_t>(at)];
      to[at] = source < 0 ? constant : from[source];
    };
    for (std::int64_t at = 0; at < first; ++at)
      one(at);
    if (first < last)
      std::copy_n(from + along[static_cast<std::size_t>(first)], last - first, to + first);
    for (auto at = last; at < dims.back(); ++at)
      one(at);
  }

  template <class Bits>
  void run_rows(const Bits* from, Bits* to, Bits constant, int threads) const {
    const auto width = dims.back();
    const auto rows = element_count({dims.data(), dims.size() - 1});
    parallel_for(threads, rows, width, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row)
        if (const auto source = row_source(row); source >= 0)
          fill_row(from + source, to + row * width, constant);
        else
          std::fill_n(to + row * width, width, constant);
    });
  }

  void run(const std::byte* from, std::byte* to, const std::byte* constant, int threads) const {
    visit_bits(type, [&](auto tag) {
      using bits = typename decltype(tag)::type;
      bits value;
      std::memcpy(&value, constant, sizeof value);
      run_rows(reinterpret_cast<const bits*>(from), reinterpret_cast<bits*>(to), value, threads);
    });
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
  padding made{to.dims, {}, 0, 0, from.type};
  if (rank == 0) {
    made.dims.push_back(1);
    made.sources.push_back({0});
    made.last = 1;
    return made;
  }
  made.first = std::clamp<std::int64_t>(before.back(), 0, to.dims.back());
  made.last = std::clamp(before.back() + from.dims.back(), made.first, to.dims.back());
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

void run(const padding& by, const kernel_args& args, const std::array<std::byte, 8>& value,
         int threads) {
  by.run(args.inputs[0].data, args.outputs[0].data,
         has_data(args, 2) ? args.inputs[2].data : value.data(), threads);
}

// The attribute `value` as an element: before opset 11 only floating-point types are padded.
std::optional<std::array<std::byte, 8>> constant_of(const kernel_spec& spec) {
  std::array<std::byte, 8> bytes{};
  const bool known = visit_floating(spec.inputs[0].desc.type, [&](auto tag) {
    const auto value =
        static_cast<typename decltype(tag)::type>(spec.attributes->real("value", 0.0F));
    std::memcpy(bytes.data(), &value, sizeof value);
  });
  return known ? std::optional{bytes} : std::nullopt;
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
    const auto constant = constant_of(spec);
    if (!constant)
      return decline("datatype {} needs opset 11", to_string(from.type));
    value = *constant;
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
    return make_kernel({},
                       [from, to, how = *how, axes, value,
                        threads = spec.threads](const kernel_args& args) -> result<void> {
                         const auto read = integers_in(args.inputs[1], "Pad");
                         if (!read)
                           return propagate(read);
                         const auto by = padding_of(from, to, how, *read, axes);
                         if (!by)
                           return propagate(by);
                         run(*by, args, value, threads);
                         return {};
                       });
  auto by = padding_of(from, to, *how, *amounts, axes);
  if (!by)
    return decline("{}", by.error().text);
  return make_kernel({}, [by = *std::move(by), value, threads = spec.threads](
                             const kernel_args& args) { run(by, args, value, threads); });
}

} // namespace troupe::cpu
