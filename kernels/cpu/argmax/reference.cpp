// Position of the extreme value along an axis. ONNX: ArgMax-13, ArgMin-13.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

namespace troupe::cpu {

made_kernel make_reference_argmax(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", 0), dims.size());
  if (!axis || dims[*axis] == 0)
    return decline("axis {} of {} is out of range or empty", spec.attributes->integer("axis", 0),
                   to_string(dims));
  const auto outer = element_count({dims.data(), *axis});
  const auto width = dims[*axis];
  const auto inner = element_count({dims.data() + *axis + 1, dims.size() - *axis - 1});
  const bool last = spec.attributes->integer("select_last_index", 0) != 0;
  const bool greatest = spec.op_type == "ArgMax";
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [=, threads = spec.threads](const kernel_args& args) {
      const auto* from = args.inputs[0].as<const element>();
      auto* to = args.outputs[0].as<std::int64_t>();
      parallel_for(threads, outer * inner, width, [&](std::int64_t begin, std::int64_t end) {
        for (auto row = begin; row < end; ++row) {
          const auto* x = from + row / inner * width * inner + row % inner;
          std::int64_t best = 0;
          auto record = static_cast<computed<element>>(x[0]);
          for (std::int64_t w = 1; w < width; ++w) {
            const auto value = static_cast<computed<element>>(x[w * inner]);
            if ((greatest ? value > record : value < record) || (last && value == record)) {
              best = w;
              record = value;
            }
          }
          to[row] = best;
        }
      });
    });
  });
}

} // namespace troupe::cpu
