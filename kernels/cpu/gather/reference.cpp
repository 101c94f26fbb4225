// Picks slices along an axis by index; a negative index counts from the end. ONNX: Gather-13.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

struct gathering {
  std::int64_t outer = 1;
  std::int64_t width = 1;
  std::int64_t picks = 1;
  std::size_t slice_bytes = 0;
};

template <class Index>
result<void> gather(const gathering& by, const kernel_args& args) {
  const auto* indices = args.inputs[1].as<const Index>();
  const auto* from = args.inputs[0].data;
  auto* to = args.outputs[0].data;
  const auto row_bytes = static_cast<std::size_t>(by.width) * by.slice_bytes;
  for (std::int64_t outer = 0; outer < by.outer; ++outer)
    for (std::int64_t pick = 0; pick < by.picks; ++pick) {
      auto index = static_cast<std::int64_t>(indices[pick]);
      if (index < -by.width || index >= by.width)
        return fail(errc::invalid_argument, "Gather: index {} is out of range for an axis of {}",
                    index, by.width);
      index += index < 0 ? by.width : 0;
      std::memcpy(to,
                  from + static_cast<std::size_t>(index) * by.slice_bytes
                      + static_cast<std::size_t>(outer) * row_bytes,
                  by.slice_bytes);
      to += by.slice_bytes;
    }
  return {};
}

} // namespace

made_kernel make_reference_gather(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  if (data.type == dtype::string)
    return decline("strings are not moved by kernels");
  const auto axis = axis_index(spec.attributes->integer("axis", 0), data.dims.size());
  if (!axis)
    return decline("axis {} is out of range for rank {}", spec.attributes->integer("axis", 0),
                   data.dims.size());
  gathering by;
  by.outer = element_count({data.dims.data(), *axis});
  by.width = data.dims[*axis];
  by.picks = spec.inputs[1].desc.elements();
  by.slice_bytes = static_cast<std::size_t>(
                       element_count({data.dims.data() + *axis + 1, data.dims.size() - *axis - 1}))
                   * size_of(data.type);
  switch (spec.inputs[1].desc.type) {
    case dtype::int64:
      return make_kernel({},
                         [by](const kernel_args& args) { return gather<std::int64_t>(by, args); });
    case dtype::int32:
      return make_kernel({},
                         [by](const kernel_args& args) { return gather<std::int32_t>(by, args); });
    default:
      return decline("indices are {}, not INT64 or INT32", to_string(spec.inputs[1].desc.type));
  }
}

} // namespace troupe::cpu
