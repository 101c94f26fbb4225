// Turns the first entries of each sequence around, as many as it is long. ONNX: ReverseSequence-10.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <cstring>

namespace troupe::cpu {

made_kernel make_reverse_sequence(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  const auto time_axis = spec.attributes->integer("time_axis", 0);
  const auto batch_axis = spec.attributes->integer("batch_axis", 1);
  if (data.dims.size() < 2 || data.type == dtype::string || time_axis + batch_axis != 1
      || time_axis < 0 || time_axis > 1)
    return decline("time axis {} and batch axis {} of {} {}", time_axis, batch_axis,
                   to_string(data.type), to_string(data.dims));
  const auto times = data.dims[static_cast<std::size_t>(time_axis)];
  const auto batches = data.dims[static_cast<std::size_t>(batch_axis)];
  if (spec.inputs[1].desc.type != dtype::int64 || spec.inputs[1].desc.elements() != batches)
    return decline("sequence lengths are {} {}", to_string(spec.inputs[1].desc.type),
                   to_string(spec.inputs[1].desc.dims));
  const auto entry =
      static_cast<std::size_t>(element_count({data.dims.data() + 2, data.dims.size() - 2}))
      * size_of(data.type);
  const auto time_step = entry * static_cast<std::size_t>(time_axis == 0 ? batches : 1);
  const auto batch_step = entry * static_cast<std::size_t>(time_axis == 0 ? 1 : times);
  return make_kernel({}, [=](const kernel_args& args) -> result<void> {
    const auto* lengths = args.inputs[1].as<const std::int64_t>();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const auto length = lengths[batch];
      if (length < 0 || length > times)
        return fail(errc::invalid_argument,
                    "ReverseSequence: a length in [0, {}] expected, {} found", times, length);
      const auto begin = static_cast<std::size_t>(batch) * batch_step;
      for (std::int64_t time = 0; time < times; ++time) {
        const auto from = time < length ? length - 1 - time : time;
        std::memcpy(args.outputs[0].data + begin + static_cast<std::size_t>(time) * time_step,
                    args.inputs[0].data + begin + static_cast<std::size_t>(from) * time_step,
                    entry);
      }
    }
    return {};
  });
}

} // namespace troupe::cpu
