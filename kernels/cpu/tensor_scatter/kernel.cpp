// Writes a stretch of new entries into a cache, each batch at its own place; the circular mode goes
// on at the front when the end is reached. ONNX: TensorScatter-24.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

struct cache_update {
  std::int64_t batches = 1;
  std::int64_t between = 1; ///< axes between the batch and the sequence
  std::int64_t places = 1;  ///< of the cache along the sequence
  std::int64_t fresh = 1;   ///< entries to write
  std::size_t entry_bytes = 1;
  bool circular = false;

  result<void> run(const std::byte* from, const std::int64_t* starts, std::byte* to) const {
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const auto start = starts != nullptr ? starts[batch] : 0;
      if (start < 0 || start >= std::max<std::int64_t>(places, 1)
          || (!circular && start > places - fresh))
        return fail(errc::invalid_argument,
                    "TensorScatter: {} entries at {} do not fit a cache of {}", fresh, start,
                    places);
      for (std::int64_t row = 0; row < between; ++row, to += bytes(places))
        for (std::int64_t entry = 0; entry < fresh; ++entry, from += entry_bytes)
          std::memcpy(to + bytes((start + entry) % places), from, entry_bytes);
    }
    return {};
  }

  std::size_t bytes(std::int64_t entries) const {
    return static_cast<std::size_t>(entries) * entry_bytes;
  }
};

} // namespace

made_kernel make_tensor_scatter(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& cache = spec.inputs[0].desc;
  const auto& update = spec.inputs[1].desc;
  const auto mode = spec.attributes->text("mode", "linear");
  const auto axis = axis_index(spec.attributes->integer("axis", -2), cache.dims.size());
  if (!axis || *axis == 0 || update.dims.size() != cache.dims.size() || update.type != cache.type
      || cache.type == dtype::string || (mode != "linear" && mode != "circular"))
    return decline("an update {} of {} in mode '{}' for {} of {}", to_string(update.dims),
                   to_string(update.type), mode, to_string(cache.dims), to_string(cache.type));
  for (std::size_t other = 0; other < cache.dims.size(); ++other)
    if (other == *axis ? update.dims[other] > cache.dims[other]
                       : update.dims[other] != cache.dims[other])
      return decline("an update {} does not fit {}", to_string(update.dims), to_string(cache.dims));
  const bool has_starts = has_input(spec, 2);
  if (has_starts
      && (spec.inputs[2].desc.type != dtype::int64
          || spec.inputs[2].desc.elements() != cache.dims[0]))
    return decline("write_indices are {} of {}", to_string(spec.inputs[2].desc.dims),
                   to_string(spec.inputs[2].desc.type));
  cache_update by;
  by.batches = cache.dims[0];
  by.between = element_count({cache.dims.data() + 1, *axis - 1});
  by.places = cache.dims[*axis];
  by.fresh = update.dims[*axis];
  by.entry_bytes = static_cast<std::size_t>(element_count(
                       {cache.dims.data() + *axis + 1, cache.dims.size() - *axis - 1}))
                   * size_of(cache.type);
  by.circular = mode == "circular";
  return make_kernel({.overwrites = 1},
                     [by, has_starts, size = cache.bytes()](const kernel_args& args) {
                       if (size > 0 && args.outputs[0].data != args.inputs[0].data)
                         std::memcpy(args.outputs[0].data, args.inputs[0].data, size);
                       return by.run(args.inputs[1].data,
                                     has_starts ? args.inputs[2].as<const std::int64_t>() : nullptr,
                                     args.outputs[0].data);
                     });
}

} // namespace troupe::cpu
