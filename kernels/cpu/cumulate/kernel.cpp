// Running sums and products along an axis. ONNX: CumSum-14, CumProd-26.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/indices.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

struct running {
  bool product = false;
  bool exclusive = false;
  bool reverse = false;
  int threads = 1;
};

// Columns that run side by side: one line of accumulators, so that each step along the axis reads
// and writes memory in order.
constexpr std::int64_t side_by_side = 64;

template <bool Product, class T>
void run_columns(const running& by, const T* from, T* to, std::int64_t steps, std::int64_t inner,
                 std::int64_t columns) {
  using number = computed<T>;
  std::array<number, side_by_side> sums;
  sums.fill(Product ? number{1} : number{0});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto at = (by.reverse ? steps - 1 - step : step) * inner;
    for (std::int64_t column = 0; column < columns; ++column) {
      auto& sum = sums[static_cast<std::size_t>(column)];
      const auto next = static_cast<number>(from[at + column]);
      const auto before = sum;
      sum = static_cast<number>(Product ? sum * next : sum + next);
      to[at + column] = static_cast<T>(by.exclusive ? before : sum);
    }
  }
}

template <class T>
void run(const running& by, const shape& dims, std::size_t axis, const T* from, T* to) {
  const auto steps = dims[axis];
  const auto inner = element_count({dims.data() + axis + 1, dims.size() - axis - 1});
  const auto outer = element_count({dims.data(), axis});
  const auto parts = (inner + side_by_side - 1) / side_by_side;
  parallel_for(by.threads, outer * parts, steps * std::min(inner, side_by_side),
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto part = begin; part < end; ++part) {
                   const auto column = part % parts * side_by_side;
                   const auto columns = std::min(inner - column, side_by_side);
                   const auto at = part / parts * steps * inner + column;
                   by.product ? run_columns<true>(by, from + at, to + at, steps, inner, columns)
                              : run_columns<false>(by, from + at, to + at, steps, inner, columns);
                 }
               });
}

} // namespace

made_kernel make_cumulation(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  if (data.dims.empty() || spec.inputs[1].desc.elements() != 1)
    return decline("one axis of a tensor expected, found {} of {}",
                   to_string(spec.inputs[1].desc.dims), to_string(data.dims));
  const running by{spec.op_type == "CumProd", spec.attributes->integer("exclusive", 0) != 0,
                   spec.attributes->integer("reverse", 0) != 0, spec.threads};
  return make_number(data.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel(
        {.overwrites = 1}, [by, dims = data.dims](const kernel_args& args) -> result<void> {
          const auto& named = args.inputs[1];
          std::optional<std::size_t> axis;
          const auto known = visit_index(named.desc.type, [&](auto index) {
            axis = axis_index(*named.as<const typename decltype(index)::type>(), dims.size());
          });
          if (!known || !axis)
            return fail(errc::invalid_argument, "cumulation: an axis of {} expected in an index",
                        to_string(dims));
          run(by, dims, *axis, args.inputs[0].as<const element>(), args.outputs[0].as<element>());
          return {};
        });
  });
}

} // namespace troupe::cpu
