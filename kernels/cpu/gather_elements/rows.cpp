#include "kernels/cpu/gather_elements/rows.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

tl::expected<element_rows, std::string> element_rows_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc.dims;
  const auto& indices = spec.inputs[1].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", 0), data.size());
  if (!axis || indices.size() != data.size())
    return decline("axis {} of {} with indices {}", spec.attributes->integer("axis", 0),
                   to_string(data), to_string(indices));
  for (std::size_t other = 0; other < data.size(); ++other)
    if (other != *axis && indices[other] > data[other])
      return decline("indices {} reach beyond {}", to_string(indices), to_string(data));
  auto strides = row_major_strides(data);
  element_rows rows;
  rows.size = data[*axis];
  rows.stride = strides[*axis];
  strides[*axis] = 0;
  rows.step = strides.back();
  for (std::size_t loop = *axis; loop + 1 < indices.size(); ++loop)
    rows.rows_a_slice *= indices[loop];
  rows.over.dims = indices;
  rows.over.strides.push_back(std::move(strides));
  return rows;
}

} // namespace troupe::cpu
