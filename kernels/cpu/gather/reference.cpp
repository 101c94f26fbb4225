// Picks slices along an axis by index; a negative index counts from the end. ONNX: Gather-13.

#include "kernels/cpu/indices.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

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
result<void> gather(const gathering& by, int threads, const kernel_args& args) {
  const auto* indices = args.inputs[1].as<const Index>();
  auto checked = check_indices(indices, by.picks, by.width, "Gather");
  if (!checked)
    return checked;
  const auto cost = static_cast<std::int64_t>(by.slice_bytes) / 4 + 4;
  parallel_for(threads, by.outer * by.picks, cost, [&](std::int64_t begin, std::int64_t end) {
    for (auto slice = begin; slice < end; ++slice) {
      const auto row = slice / by.picks * by.width;
      const auto from = row + from_front(indices[slice % by.picks], by.width);
      std::memcpy(args.outputs[0].data + static_cast<std::size_t>(slice) * by.slice_bytes,
                  args.inputs[0].data + static_cast<std::size_t>(from) * by.slice_bytes,
                  by.slice_bytes);
    }
  });
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
  made_kernel made =
      decline("indices are {}, not INT64 or INT32", to_string(spec.inputs[1].desc.type));
  visit_index(spec.inputs[1].desc.type, [&](auto tag) {
    using index = typename decltype(tag)::type;
    made = make_kernel({}, [by, threads = spec.threads](const kernel_args& args) {
      return gather<index>(by, threads, args);
    });
  });
  return made;
}

} // namespace troupe::cpu
