// The k greatest or least elements along an axis, best first, and where they were; of equal ones
// the first. NaN counts as greater than any number. ONNX: TopK-1, TopK-10, TopK-11, TopK-24.

#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

struct selection {
  std::int64_t outer = 1;
  std::int64_t size = 0; ///< along the axis
  std::int64_t inner = 1;
  std::int64_t k = 0;
  std::int64_t parts = 1; ///< that run at once, each with a list of its own

  [[nodiscard]] std::int64_t rows() const noexcept { return outer * inner; }
};

template <class T>
struct entry {
  computed<T> value;
  std::int64_t place;
};

template <class Number>
bool is_less(Number a, Number b) {
  if constexpr (std::is_floating_point_v<Number>)
    return a < b || (!std::isnan(a) && std::isnan(b));
  else
    return a < b;
}

// A total order, so that the answer is one.
template <bool Largest, class T>
bool is_before(const entry<T>& a, const entry<T>& b) {
  if (is_less(a.value, b.value))
    return !Largest;
  if (is_less(b.value, a.value))
    return Largest;
  return a.place < b.place;
}

// The best k of a row, sorted, at the front of `list`. A small k keeps a heap of the best so far,
// whose worst stands in front: most elements are dismissed by one comparison.
template <bool Largest, class T>
void select(const T* row, const selection& by, entry<T>* list) {
  const auto at = [&](std::int64_t place) {
    return entry<T>{static_cast<computed<T>>(row[place * by.inner]), place};
  };
  const auto before = is_before<Largest, T>;
  if (by.k > by.size / 8) {
    for (std::int64_t place = 0; place < by.size; ++place)
      list[place] = at(place);
    if (by.k < by.size)
      std::nth_element(list, list + by.k, list + by.size, before);
    std::sort(list, list + by.k, before);
    return;
  }
  for (std::int64_t place = 0; place < by.k; ++place)
    list[place] = at(place);
  std::make_heap(list, list + by.k, before);
  for (auto place = by.k; place < by.size; ++place)
    if (const auto next = at(place); before(next, *list)) {
      std::pop_heap(list, list + by.k, before);
      list[by.k - 1] = next;
      std::push_heap(list, list + by.k, before);
    }
  std::sort_heap(list, list + by.k, before);
}

template <bool Largest, class T>
void run(const selection& by, int threads, const kernel_args& args) {
  const auto* from = args.inputs[0].as<const T>();
  auto* values = args.outputs[0].data != nullptr ? args.outputs[0].as<T>() : nullptr;
  auto* places = args.outputs.size() > 1 && args.outputs[1].data != nullptr
                     ? args.outputs[1].as<std::int64_t>()
                     : nullptr;
  const auto run_part = [&](std::int64_t part) {
    auto* list = reinterpret_cast<entry<T>*>(args.workspace.data()) + part * by.size;
    for (auto row = by.rows() * part / by.parts; row < by.rows() * (part + 1) / by.parts; ++row) {
      const auto outer = row / by.inner;
      const auto inner = row % by.inner;
      select<Largest>(from + outer * by.size * by.inner + inner, by, list);
      const auto into = outer * by.k * by.inner + inner;
      for (std::int64_t i = 0; i < by.k; ++i) {
        if (values != nullptr)
          values[into + i * by.inner] = static_cast<T>(list[i].value);
        if (places != nullptr)
          places[into + i * by.inner] = list[i].place;
      }
    }
  };
  parallel_for(threads, by.parts, by.rows() * by.size * 2 / by.parts,
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto part = begin; part < end; ++part)
                   run_part(part);
               });
}

} // namespace

made_kernel make_top_k(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc.dims;
  const auto& found = spec.outputs[has_output(spec, 0) || spec.outputs.size() < 2 ? 0 : 1].dims;
  const auto axis = axis_index(spec.attributes->integer("axis", -1), data.size());
  if (!axis || found.size() != data.size() || found[*axis] > data[*axis])
    return decline("axis {} of {} into {}", spec.attributes->integer("axis", -1), to_string(data),
                   to_string(found));
  selection by;
  by.outer = element_count({data.data(), *axis});
  by.size = data[*axis];
  by.inner = element_count({data.data() + *axis + 1, data.size() - *axis - 1});
  by.k = found[*axis];
  by.parts = std::max<std::int64_t>(std::min<std::int64_t>(spec.threads, by.rows()), 1);
  const bool largest = spec.attributes->integer("largest", 1) != 0;
  const bool reads_k = has_input(spec, 1);
  if (reads_k && spec.inputs[1].desc.elements() != 1)
    return decline("k is {}, not one number", to_string(spec.inputs[1].desc.dims));
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    const auto list_bytes = static_cast<std::size_t>(by.parts * by.size) * sizeof(entry<element>);
    return make_kernel(
        {.workspace_bytes = list_bytes},
        [by, largest, reads_k, threads = spec.threads](const kernel_args& args) -> result<void> {
          if (reads_k && has_data(args, 1)) {
            std::int64_t k = -1;
            visit_index(args.inputs[1].desc.type, [&](auto index) {
              k = *args.inputs[1].as<const typename decltype(index)::type>();
            });
            if (k != by.k)
              return fail(errc::invalid_argument, "TopK: k of {} expected by the plan, {} found",
                          by.k, k);
          }
          if (by.k > 0)
            largest ? run<true, element>(by, threads, args)
                    : run<false, element>(by, threads, args);
          return {};
        });
  });
}

} // namespace troupe::cpu
