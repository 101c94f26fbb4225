// The grid that an affine map makes of a regular one, as GridSample reads it. ONNX: AffineGrid-20.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vision_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

struct regular_grid {
  std::array<std::int64_t, 3> sizes{1, 1, 1}; ///< depth, height, width
  std::int64_t axes = 2;
  bool align_corners = false;

  [[nodiscard]] std::int64_t places() const noexcept { return sizes[0] * sizes[1] * sizes[2]; }

  // From -1 to 1, at the corners or at the centres of elements.
  double coordinate(std::size_t axis, std::int64_t at) const {
    const auto size = static_cast<double>(sizes[axis]);
    const auto x = static_cast<double>(at);
    if (align_corners)
      return sizes[axis] > 1 ? 2 * x / (size - 1) - 1 : 0.0;
    return (2 * x + 1) / size - 1;
  }

  // x, y, z and the constant that the map's last column multiplies.
  std::array<double, 4> entry(std::int64_t place) const {
    std::array<double, 4> made{};
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      const auto from_back = static_cast<std::size_t>(2 - axis);
      made[static_cast<std::size_t>(axis)] = coordinate(from_back, place % sizes[from_back]);
      place /= sizes[from_back];
    }
    made[static_cast<std::size_t>(axes)] = 1;
    return made;
  }
};

} // namespace

made_kernel make_affine_grid(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& theta = spec.inputs[0].desc.dims;
  const auto& output = spec.outputs[0].dims;
  regular_grid grid;
  grid.axes = output.empty() ? 0 : output.back();
  grid.align_corners = spec.attributes->integer("align_corners", 0) != 0;
  if ((grid.axes != 2 && grid.axes != 3) || output.size() != static_cast<std::size_t>(grid.axes) + 2
      || theta != shape{output[0], grid.axes, grid.axes + 1})
    return decline("maps {} do not give a grid {}", to_string(theta), to_string(output));
  for (std::int64_t axis = 0; axis < grid.axes; ++axis)
    grid.sizes[static_cast<std::size_t>(3 - grid.axes + axis)] =
        output[static_cast<std::size_t>(axis + 1)];
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.unread = 2}, [grid, images = output[0],
                                       threads = spec.threads](const kernel_args& args) {
      const auto* maps = args.inputs[0].as<const element>();
      auto* to = args.outputs[0].as<element>();
      parallel_for(threads, images * grid.places(), 16, [&](std::int64_t begin, std::int64_t end) {
        for (auto at = begin; at < end; ++at) {
          const auto entry = grid.entry(at % grid.places());
          const auto* row = maps + at / grid.places() * grid.axes * (grid.axes + 1);
          for (std::int64_t i = 0; i < grid.axes; ++i) {
            double sum = 0;
            for (std::size_t column = 0; column <= static_cast<std::size_t>(grid.axes); ++column)
              sum += static_cast<double>(static_cast<computed<element>>(*row++)) * entry[column];
            to[at * grid.axes + i] = static_cast<element>(static_cast<computed<element>>(sum));
          }
        }
      });
    });
  });
}

} // namespace troupe::cpu
