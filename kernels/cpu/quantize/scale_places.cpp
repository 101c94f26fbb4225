#include "kernels/cpu/quantize/quantize.hpp"

namespace troupe::cpu {

namespace {

// One scale for everything, seen as few long rows.
scale_places whole_tensor(const shape& data) {
  scale_places places;
  places.size = data.empty() ? 1 : data.front();
  places.inner = 1;
  for (std::size_t i = 1; i < data.size(); ++i)
    places.inner *= data[i];
  if (places.size < 8 || places.inner < 8) { // cut into pieces that a team can share
    const auto count = places.size * places.inner;
    places.size = count % 256 == 0 ? count / 256 : 1;
    places.inner = count % 256 == 0 ? 256 : count;
  }
  return places;
}

} // namespace

tl::expected<scale_places, std::string> scale_places_of(const attribute_map& attributes,
                                                        const shape& data, const shape& scale) {
  const auto block = attributes.integer("block_size", 0);
  if (block == 0 && element_count(scale) == 1 && scale.size() <= 1)
    return whole_tensor(data);
  const auto axis = axis_index(attributes.integer("axis", 1), data.size());
  if (!axis)
    return decline("axis {} of {}", attributes.integer("axis", 1), to_string(data));
  scale_places places;
  places.size = data[*axis];
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i < *axis)
      places.outer *= data[i];
    if (i > *axis)
      places.inner *= data[i];
  }
  if (block == 0) {
    if (scale.size() != 1 || scale[0] != places.size)
      return decline("scale {} is not a scalar nor one number for each index of axis {} of {}",
                     to_string(scale), *axis, to_string(data));
    places.block_stride = 1;
    return places;
  }
  bool fits = block > 0 && scale.size() == data.size();
  for (std::size_t i = 0; fits && i < data.size(); ++i)
    fits = scale[i] == (i == *axis ? (data[i] + block - 1) / block : data[i]);
  if (!fits)
    return decline("scale {} does not cut axis {} of {} into blocks of {}", to_string(scale), *axis,
                   to_string(data), block);
  places.block = block;
  places.inner_stride = 1;
  places.block_stride = places.inner;
  places.outer_stride = scale[*axis] * places.inner;
  return places;
}

} // namespace troupe::cpu
