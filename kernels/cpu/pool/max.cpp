// Maximum over a moving window, and where it was. ONNX: MaxPool-22. Positions count through the
// whole input as if it were flat; with storage_order 1 its spatial axes count column by column.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/pool/moving_window.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <limits>

namespace troupe::cpu {

namespace {

template <class T>
constexpr computed<T> least() {
  using number = computed<T>;
  return std::is_floating_point_v<number> ? -std::numeric_limits<number>::infinity()
                                          : std::numeric_limits<number>::lowest();
}

std::int64_t position(const pool_geometry& over, std::int64_t plane, const spatial_index& at,
                      bool by_columns) {
  const auto& sizes = over.input.sizes;
  const auto within = by_columns ? at[0] + sizes[0] * (at[1] + sizes[1] * at[2])
                                 : (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
  return plane * sizes[0] * sizes[1] * sizes[2] + within;
}

template <class T>
void run_plane(const pool_geometry& over, bool by_columns, const T* x, T* y, std::int64_t* places,
               std::int64_t image, std::int64_t channel) {
  for_each_place(over.output.sizes, [&](const spatial_index& place) {
    auto best = least<T>();
    spatial_index best_at{0, 0, 0};
    bool any = false;
    for_each_tap(over.moves, place, over.input.sizes, [&](const auto&, const spatial_index& from) {
      const auto value = static_cast<computed<T>>(x[over.input.offset(image, channel, from)]);
      if (any && !(value > best))
        return;
      best = value;
      best_at = from;
      any = true;
    });
    const auto to = over.output.offset(image, channel, place);
    if (y != nullptr)
      y[to] = static_cast<T>(best);
    if (places != nullptr)
      places[to] = position(over, image * over.input.channels + channel, best_at, by_columns);
  });
}

} // namespace

made_kernel make_reference_max_pool(const kernel_spec& spec, weight_cache&) {
  const auto found = pool_geometry_of(spec);
  if (!found)
    return tl::unexpected{found.error()};
  const bool by_columns = spec.attributes->integer("storage_order", 0) != 0;
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel(
        {}, [over = *found, by_columns, threads = spec.threads](const kernel_args& args) {
          const auto* x = args.inputs[0].as<const element>();
          auto* y = args.outputs[0].as<element>();
          auto* places = args.outputs.size() > 1 ? args.outputs[1].as<std::int64_t>() : nullptr;
          for_each_plane(over, threads, [&](std::int64_t image, std::int64_t channel) {
            run_plane(over, by_columns, x, y, places, image, channel);
          });
        });
  });
}

} // namespace troupe::cpu
