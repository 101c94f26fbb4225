// Adds blocks that lie in columns back into the image they were cut from. ONNX: Col2Im-18, one to
// three spatial axes.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/vision_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

struct folding {
  spatial image;
  spatial_window moves;
  spatial_index blocks{1, 1, 1}; ///< along each axis
  std::int64_t columns = 1;      ///< all blocks
  std::int64_t taps = 1;         ///< of a block

  // One channel: `columns` rows of blocks, a row for each tap.
  template <class T>
  void run(const T* from, T* to) const {
    const auto places = image.sizes[0] * image.sizes[1] * image.sizes[2];
    std::fill_n(to, places, T{});
    std::int64_t block = 0;
    for_each_place(blocks, [&](const spatial_index& place) {
      for_each_tap(
          moves, place, image.sizes, [&](const spatial_index& tap, const spatial_index& at) {
            const auto row = (tap[0] * moves.kernel[1] + tap[1]) * moves.kernel[2] + tap[2];
            auto& sum = to[(at[0] * image.sizes[1] + at[1]) * image.sizes[2] + at[2]];
            sum = static_cast<T>(
                static_cast<computed<T>>(static_cast<computed<T>>(sum)
                                         + static_cast<computed<T>>(from[row * columns + block])));
          });
      ++block;
    });
  }
};

tl::expected<folding, std::string> folding_of(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& output = spec.outputs[0];
  const auto kernel = constant_integers(spec, 2);
  if (!kernel || output.dims.size() < 3 || output.dims.size() > 5
      || kernel->size() != output.dims.size() - 2)
    return decline("a block shape of one to three sizes in an initializer expected for {}",
                   to_string(output.dims));
  const auto moves = sliding_window(*spec.attributes, output.dims, *kernel);
  if (!moves)
    return decline("{}", moves.error().text);
  folding by;
  by.image = spatial_of(output);
  by.moves = spatial_window_of(*moves);
  for (std::size_t axis = 0; axis < moves->size(); ++axis) {
    by.blocks[3 - moves->size() + axis] = (*moves)[axis].output;
    by.columns *= (*moves)[axis].output;
    by.taps *= (*moves)[axis].kernel;
  }
  if (spec.inputs[0].desc.dims != shape{by.image.images, by.image.channels * by.taps, by.columns})
    return decline("columns {} do not make an image {}", to_string(spec.inputs[0].desc.dims),
                   to_string(output.dims));
  return by;
}

} // namespace

made_kernel make_col2im(const kernel_spec& spec, weight_cache&) {
  const auto found = folding_of(spec);
  if (!found)
    return tl::unexpected{found.error()};
  return make_number(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel(
        {.unread = 6}, [by = *found, threads = spec.threads](const kernel_args& args) {
          const auto places = by.image.sizes[0] * by.image.sizes[1] * by.image.sizes[2];
          parallel_for(threads, by.image.images * by.image.channels, by.taps * by.columns,
                       [&](std::int64_t begin, std::int64_t end) {
                         for (auto plane = begin; plane < end; ++plane)
                           by.run(args.inputs[0].as<const element>() + plane * by.taps * by.columns,
                                  args.outputs[0].as<element>() + plane * places);
                       });
        });
  });
}

} // namespace troupe::cpu
