// Keeps the upper or the lower triangle of matrices. ONNX: Trilu-14.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

struct triangle {
  std::int64_t rows = 0; ///< of all matrices
  std::int64_t rows_a_matrix = 1;
  std::int64_t columns = 1;
  std::size_t element_bytes = 1;
  bool upper = true;

  void run(const std::byte* from, std::byte* to, std::int64_t diagonal, int threads) const {
    const auto bytes = [&](std::int64_t count) {
      return static_cast<std::size_t>(count) * element_bytes;
    };
    parallel_for(threads, rows, columns, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        // Saturating: a diagonal far outside keeps all or nothing.
        const auto first = std::clamp<std::int64_t>(diagonal, -rows_a_matrix, columns + 1)
                           + row % rows_a_matrix + (upper ? 0 : 1);
        const auto border = bytes(std::clamp<std::int64_t>(first, 0, columns));
        const auto* source = from + bytes(row * columns);
        auto* target = to + bytes(row * columns);
        const auto rest = bytes(columns) - border;
        if (source != target) {
          std::memcpy(upper ? target + border : target, upper ? source + border : source,
                      upper ? rest : border);
        }
        std::memset(upper ? target : target + border, 0, upper ? border : rest);
      }
    });
  }
};

} // namespace

made_kernel make_trilu(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  if (data.dims.size() < 2 || data.type == dtype::string)
    return decline("{} {} holds no matrices of numbers", to_string(data.type),
                   to_string(data.dims));
  if (has_input(spec, 1)
      && (spec.inputs[1].desc.type != dtype::int64 || spec.inputs[1].desc.elements() != 1))
    return decline("k is {} {}", to_string(spec.inputs[1].desc.type),
                   to_string(spec.inputs[1].desc.dims));
  triangle by;
  by.columns = data.dims.back();
  by.rows_a_matrix = std::max<std::int64_t>(data.dims[data.dims.size() - 2], 1);
  by.rows = element_count({data.dims.data(), data.dims.size() - 1});
  by.element_bytes = size_of(data.type);
  by.upper = spec.attributes->integer("upper", 1) != 0;
  return make_kernel({.overwrites = 1}, [by, threads = spec.threads](const kernel_args& args) {
    const auto diagonal = has_data(args, 1) ? *args.inputs[1].as<const std::int64_t>() : 0;
    if (by.columns > 0)
      by.run(args.inputs[0].data, args.outputs[0].data, diagonal, threads);
  });
}

} // namespace troupe::cpu
