// Einstein summation: for each element of the output, the sum over all indices that the output
// lacks of the product of the operands' elements. ONNX: Einsum-28.

#include "kernels/op/einsum.hpp"

#include "kernels/cpu/cast/convert.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <map>

namespace troupe::cpu {

namespace {

/// The loops over an output's elements and, within, over what is summed; each with the operands'
/// strides.
struct summation {
  iteration kept;
  iteration summed;
};

tl::expected<summation, std::string> summation_of(const kernel_spec& spec, const einsum& of) {
  std::map<int, std::int64_t> sizes;
  for (std::size_t operand = 0; operand < of.inputs.size(); ++operand)
    for (std::size_t axis = 0; axis < of.inputs[operand].size(); ++axis) {
      const int label = of.inputs[operand][axis];
      const auto size = spec.inputs[operand].desc.dims[axis];
      auto& known = sizes.try_emplace(label, size).first->second;
      if (known == 1 && from_ellipsis(label))
        known = size;
      if (known != size && !(size == 1 && from_ellipsis(label)))
        return decline("operand {}: an axis of size {} expected, {} found", operand, known, size);
    }
  summation made;
  made.kept.strides.resize(of.inputs.size());
  made.summed.strides.resize(of.inputs.size());
  const auto add_loop = [&](iteration& to, int label, std::int64_t size) {
    to.dims.push_back(size);
    for (std::size_t operand = 0; operand < of.inputs.size(); ++operand) {
      const auto strides = row_major_strides(spec.inputs[operand].desc.dims);
      std::int64_t stride = 0;
      for (std::size_t axis = 0; axis < of.inputs[operand].size(); ++axis)
        if (of.inputs[operand][axis] == label && spec.inputs[operand].desc.dims[axis] != 1)
          stride += strides[axis]; // an index that stands twice walks the diagonal
      to.strides[operand].push_back(stride);
    }
  };
  for (const int label : of.output)
    add_loop(made.kept, label, sizes[label]);
  for (const auto& [label, size] : sizes)
    if (std::ranges::find(of.output, label) == of.output.end())
      add_loop(made.summed, label, size);
  add_loop(made.kept, -1, 1); // the row of for_each_row
  if (made.summed.dims.empty())
    add_loop(made.summed, -1, 1);
  return made;
}

template <class T>
using sum_type = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

// The sum over the innermost summed index; two operands, a product of matrices mostly, are worth a
// loop of their own.
template <class T>
sum_type<T> inner_sum(const iteration& summed, std::span<const T* const> at) {
  const auto number = [](T of) { return static_cast<sum_type<T>>(static_cast<computed<T>>(of)); };
  sum_type<T> sum = 0;
  if (at.size() == 2) {
    const auto* a = at[0];
    const auto* b = at[1];
    const auto a_step = summed.strides[0].back();
    const auto b_step = summed.strides[1].back();
    for (std::int64_t i = 0; i < summed.inner(); ++i)
      sum += number(a[i * a_step]) * number(b[i * b_step]);
    return sum;
  }
  for (std::int64_t i = 0; i < summed.inner(); ++i) {
    sum_type<T> product = 1;
    for (std::size_t operand = 0; operand < at.size(); ++operand)
      product *= number(at[operand][i * summed.strides[operand].back()]);
    sum += product;
  }
  return sum;
}

template <class T>
void sum_products(const summation& loops, const kernel_args& args, std::int64_t begin,
                  std::int64_t end) {
  const auto operands = loops.kept.strides.size();
  auto* to = args.outputs[0].as<T>();
  small_vector<const T*, 6> at(operands, nullptr);
  for_each_row(loops.kept, begin, end, [&](std::int64_t index, auto start) {
    sum_type<T> sum = 0;
    for_each_row(loops.summed, 0, loops.summed.outer(), [&](std::int64_t, auto offset) {
      for (std::size_t operand = 0; operand < operands; ++operand)
        at[operand] =
            args.inputs[operand].template as<const T>() + start[operand] + offset[operand];
      sum += inner_sum<T>(loops.summed, {at.data(), operands});
    });
    to[index] = convert<T>(sum);
  });
}

} // namespace

made_kernel make_reference_einsum(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  std::vector<std::size_t> ranks;
  for (const auto& input : spec.inputs) {
    if (!input.present || input.desc.type != spec.inputs[0].desc.type)
      return decline("inputs differ in datatype");
    ranks.push_back(input.desc.dims.size());
  }
  const auto parsed = parse_einsum(spec.attributes->text("equation"), ranks);
  if (!parsed)
    return decline("{}", parsed.error().text);
  auto loops = summation_of(spec, *parsed);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [loops = *loops, threads = spec.threads](const kernel_args& args) {
      parallel_for(threads, loops.kept.outer(), element_count(loops.summed.dims),
                   [&](std::int64_t begin, std::int64_t end) {
                     sum_products<element>(loops, args, begin, end);
                   });
    });
  });
}

} // namespace troupe::cpu
