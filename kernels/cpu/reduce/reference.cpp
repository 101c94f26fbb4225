// Reductions over a set of axes. ONNX: ReduceMean-18, ReduceSum-13, ReduceMax-20, ReduceMin-20,
// ReduceProd-18, ReduceSumSquare-18, ReduceL1-18, ReduceL2-18, ReduceLogSum-28, ReduceLogSumExp-28.

#include "kernels/cpu/reduce/reduce.hpp"

#include "kernels/cpu/cast/convert.hpp"
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

/// Integers are reduced as they are and wrap, all else in double.
template <class T>
using wide =
    std::conditional_t<!std::is_integral_v<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// What is done to the values of one output element, all in `Number`.
template <class Number>
struct reducer {
  Number start;
  Number (*step)(Number so_far, Number value);
  Number (*finish)(Number total, std::int64_t count);
  bool shifts = false; ///< values are taken relative to their maximum, which is added at the end
};

template <class Number>
Number as_is(Number total, std::int64_t) {
  return total;
}

template <class Number>
Number plus(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <class Number>
Number times(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<Number>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

// NaN is the largest of numbers, and the least.
template <class T>
std::optional<reducer<wide<T>>> plain_reducer(std::string_view op) {
  using number = wide<T>;
  constexpr bool floating = std::is_floating_point_v<number>;
  constexpr auto lowest = floating
                              ? -std::numeric_limits<number>::infinity()
                              : static_cast<number>(std::numeric_limits<computed<T>>::lowest());
  constexpr auto highest = floating ? std::numeric_limits<number>::infinity()
                                    : static_cast<number>(std::numeric_limits<computed<T>>::max());
  if (op == "ReduceSum")
    return reducer<number>{0, plus<number>, as_is<number>};
  if (op == "ReduceMean")
    return reducer<number>{0, plus<number>, [](number total, std::int64_t count) {
                             return count == 0 ? total : total / static_cast<number>(count);
                           }};
  if (op == "ReduceMax")
    return reducer<number>{lowest, [](number a, number b) { return a > b || a != a ? a : b; },
                           as_is<number>};
  if (op == "ReduceMin")
    return reducer<number>{highest, [](number a, number b) { return a < b || a != a ? a : b; },
                           as_is<number>};
  if (op == "ReduceProd")
    return reducer<number>{1, times<number>, as_is<number>};
  if (op == "ReduceSumSquare")
    return reducer<number>{0, [](number a, number b) { return plus(a, times(b, b)); },
                           as_is<number>};
  if (op == "ReduceL1")
    return reducer<number>{0, [](number a, number b) { return b < 0 ? a - b : plus(a, b); },
                           as_is<number>};
  return std::nullopt;
}

// Those whose intermediate values are no integers.
std::optional<reducer<double>> rooted_reducer(std::string_view op) {
  if (op == "ReduceL2")
    return reducer<double>{0, [](double a, double b) { return a + b * b; },
                           [](double total, std::int64_t) { return std::sqrt(total); }};
  if (op == "ReduceLogSum")
    return reducer<double>{0, plus<double>,
                           [](double total, std::int64_t) { return std::log(total); }};
  if (op == "ReduceLogSumExp")
    return reducer<double>{0, [](double a, double b) { return a + std::exp(b); },
                           [](double total, std::int64_t) { return std::log(total); }, true};
  return std::nullopt;
}

template <class T, class Number>
made_kernel reducing(const iteration& kept, const iteration& lost, const reducer<Number>& with) {
  return make_kernel({}, [kept, lost, with](const kernel_args& args) {
    const auto* from = args.inputs[0].as<const T>();
    auto* to = args.outputs[0].as<T>();
    for_each_row(kept, 0, kept.outer(), [&](std::int64_t index, auto start) {
      const auto each = [&](const auto& use) {
        for_each_row(lost, 0, lost.outer(), [&](std::int64_t, auto offset) {
          use(static_cast<Number>(static_cast<computed<T>>(from[start[0] + offset[0]])));
        });
      };
      Number shift = 0;
      if constexpr (std::is_floating_point_v<Number>)
        if (with.shifts) {
          shift = -std::numeric_limits<Number>::infinity();
          each([&](Number value) { shift = std::max(shift, value); });
          if (std::isinf(shift))
            shift = 0;
        }
      auto total = with.start;
      each([&](Number value) { total = with.step(total, value - shift); });
      to[index] = convert<T>(with.finish(total, lost.outer()) + shift);
    });
  });
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
  // BOOL has the order of its bytes: the most is their disjunction, the least their conjunction.
  auto type = spec.inputs[0].desc.type;
  if (type == dtype::boolean && (spec.op_type == "ReduceMax" || spec.op_type == "ReduceMin"))
    type = dtype::uint8;
  return make_number(type, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    if (const auto with = plain_reducer<element>(spec.op_type))
      return reducing<element>(kept, lost, *with);
    if (const auto with = rooted_reducer(spec.op_type))
      return reducing<element>(kept, lost, *with);
    return decline("{} is not a known reduction", spec.op_type);
  });
}

} // namespace troupe::cpu
