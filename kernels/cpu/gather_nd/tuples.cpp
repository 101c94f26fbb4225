#include "kernels/cpu/gather_nd/tuples.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

result<void> index_tuples::check(const std::int64_t* indices, std::string_view op_type) const {
  for (std::int64_t which = 0; which < slices(); ++which)
    for (const auto size : sizes) {
      const auto index = *indices++;
      if (index < -size || index >= size)
        return fail(errc::invalid_argument, "{}: an index in [{}, {}) expected, {} found", op_type,
                    -size, size, index);
    }
  return {};
}

tl::expected<index_tuples, std::string> index_tuples_of(const kernel_spec& spec,
                                                        std::int64_t batch_axes) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc.dims;
  const auto& indices = spec.inputs[1].desc.dims;
  if (spec.inputs[1].desc.type != dtype::int64)
    return decline("indices are {}, not INT64", to_string(spec.inputs[1].desc.type));
  const auto batched = static_cast<std::size_t>(batch_axes);
  if (indices.empty() || batch_axes < 0 || batched >= indices.size()
      || static_cast<std::size_t>(indices.back()) > data.size() - std::min(batched, data.size()))
    return decline("indices {} with {} batch axes do not fit {}", to_string(indices), batch_axes,
                   to_string(data));
  index_tuples made;
  const auto strides = row_major_strides(data);
  for (std::size_t axis = 0; axis < batched; ++axis)
    if (data[axis] != indices[axis])
      return decline("batch axis {} of {} and {} differ", axis, to_string(data),
                     to_string(indices));
  const auto depth = static_cast<std::size_t>(indices.back());
  made.batches = element_count({data.data(), batched});
  made.batch_elements = element_count({data.data() + batched, data.size() - batched});
  made.tuples = element_count({indices.data() + batched, indices.size() - batched - 1});
  made.slice_elements =
      element_count({data.data() + batched + depth, data.size() - batched - depth});
  for (std::size_t axis = batched; axis < batched + depth; ++axis) {
    made.sizes.push_back(data[axis]);
    made.strides.push_back(strides[axis]);
  }
  return made;
}

} // namespace troupe::cpu
