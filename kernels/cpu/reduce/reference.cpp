// Reductions over a set of axes. ONNX: ReduceMean-18, ReduceSum-13, ReduceMax-18, ReduceMin-18,
// ReduceProd-18, ReduceSumSquare-18, ReduceL2-18.

#include "kernels/cpu/reduce/reduce.hpp"

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace troupe::cpu {

namespace {

template <class T>
using wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

template <class T>
struct reducer {
  wide<T> start;
  wide<T> (*step)(wide<T> so_far, wide<T> value);
  wide<T> (*finish)(wide<T> total, std::int64_t count);
};

template <class T>
std::optional<reducer<T>> reducer_for(std::string_view op) {
  using number = wide<T>;
  constexpr auto as_is = [](number total, std::int64_t) { return total; };
  constexpr auto sum = [](number a, number b) { return a + b; };
  constexpr bool floating = std::is_floating_point_v<T>;
  constexpr auto lowest = floating ? -std::numeric_limits<number>::infinity()
                                   : static_cast<number>(std::numeric_limits<T>::lowest());
  constexpr auto highest = floating ? std::numeric_limits<number>::infinity()
                                    : static_cast<number>(std::numeric_limits<T>::max());
  if (op == "ReduceSum")
    return reducer<T>{0, sum, as_is};
  if (op == "ReduceMean")
    return reducer<T>{0, sum, [](number total, std::int64_t count) { //
                        return count == 0 ? total : total / static_cast<number>(count);
                      }};
  if (op == "ReduceMax")
    return reducer<T>{lowest, [](number a, number b) { return std::max(a, b); }, as_is};
  if (op == "ReduceMin")
    return reducer<T>{highest, [](number a, number b) { return std::min(a, b); }, as_is};
  if (op == "ReduceProd")
    return reducer<T>{1, [](number a, number b) { return a * b; }, as_is};
  if (op == "ReduceSumSquare")
    return reducer<T>{0, [](number a, number b) { return a + b * b; }, as_is};
  if (op == "ReduceL2")
    return reducer<T>{0, [](number a, number b) { return a + b * b; },
                      [](number total, std::int64_t) {
                        return static_cast<number>(std::sqrt(static_cast<double>(total)));
                      }};
  return std::nullopt;
}

} // namespace

made_kernel make_reference_reduce(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto reduced = reduced_axes(spec);
  if (!reduced)
    return tl::unexpected{std::move(reduced).error()};
  const auto& dims = spec.inputs[0].desc.dims;
  const auto strides = row_major_strides(dims);
  shape kept_dims, kept_strides, lost_dims, lost_strides;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    ((*reduced)[axis] ? lost_dims : kept_dims).push_back(dims[axis]);
    ((*reduced)[axis] ? lost_strides : kept_strides).push_back(strides[axis]);
  }
  for (auto* list : {&kept_dims, &lost_dims})
    list->push_back(1); // for_each_row wants an innermost loop
  for (auto* list : {&kept_strides, &lost_strides})
    list->push_back(0);
  const iteration kept{kept_dims, {kept_strides}};
  const iteration lost{lost_dims, {lost_strides}};
  return make_numeric(spec.inputs[0].desc.type, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    const auto with = reducer_for<element>(spec.op_type);
    if (!with)
      return decline("{} is not a known reduction", spec.op_type);
    return make_kernel({}, [kept, lost, with = *with](const kernel_args& args) {
      const auto* from = args.inputs[0].as<const element>();
      auto* to = args.outputs[0].as<element>();
      for_each_row(kept, 0, kept.outer(), [&](std::int64_t index, auto start) {
        auto total = with.start;
        for_each_row(lost, 0, lost.outer(), [&](std::int64_t, auto offset) {
          total = with.step(total, static_cast<wide<element>>(from[start[0] + offset[0]]));
        });
        to[index] = static_cast<element>(with.finish(total, lost.outer()));
      });
    });
  });
}

} // namespace troupe::cpu
