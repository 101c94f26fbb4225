// Operators that sample, unfold or pool images at places that data names.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/product.hpp"
#include "runtime/graph/infer/window.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 28; // of sizes in attributes

result<void> infer_type_only(inference& at) {
  at.set(0, at.type(0), std::nullopt);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__GridSample.html
result<void> infer_grid_sample(inference& at) {
  const auto* data = at.dims(0);
  const auto* grid = at.dims(1);
  if (data == nullptr || grid == nullptr)
    return infer_type_only(at);
  if (data->size() < 3 || data->size() > 5)
    return fail(errc::invalid_argument, "input 0 of rank 3 to 5 expected, {} found",
                at.graph_text(*data));
  if (auto good = at.expect_rank(1, data->size()); !good)
    return good;
  if (auto good = at.expect_size(1, 0, (*data)[0]); !good)
    return good;
  const auto axes = static_cast<std::int64_t>(data->size()) - 2;
  if (auto good = at.expect_size(1, grid->size() - 1, axes); !good)
    return good;
  symbolic_shape out{(*data)[0], (*data)[1]};
  out.insert(out.end(), grid->begin() + 1, grid->end() - 1);
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__AffineGrid.html: the size is that of the image, [N, C, …].
result<void> infer_affine_grid(inference& at) {
  const auto sizes = at.sizes_in(1);
  if (!sizes)
    return infer_type_only(at);
  if (sizes->size() < 4 || sizes->size() > 5)
    return fail(errc::invalid_argument, "4 or 5 sizes expected, {} found", sizes->size());
  symbolic_shape out{sizes->front()};
  out.insert(out.end(), sizes->begin() + 2, sizes->end());
  out.push_back(static_cast<std::int64_t>(sizes->size()) - 2);
  if (at.dims(0) != nullptr) {
    if (auto good = at.expect_rank(0, 3); !good)
      return good;
    for (std::size_t axis : {1U, 2U})
      if (auto good =
              at.expect_size(0, axis, static_cast<std::int64_t>(sizes->size() - 2 + (axis - 1)));
          !good)
        return good;
    if (!out[0].known())
      out[0] = (*at.dims(0))[0];
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> check_images(const inference& at, std::int64_t region_size) {
  if (auto good = at.expect_rank(0, 4); !good)
    return good;
  if (auto good = at.expect_rank(1, 2); !good)
    return good;
  return at.dims(1) == nullptr ? result<void>{} : at.expect_size(1, 1, region_size);
}

// One image for each region.
void set_regions(inference& at, std::int64_t height, std::int64_t width) {
  symbolic_shape out{at.symbols().fresh_dim(), at.symbols().fresh_dim(), height, width};
  if (at.dims(1) != nullptr)
    out[0] = (*at.dims(1))[0];
  if (at.dims(0) != nullptr)
    out[1] = (*at.dims(0))[1];
  at.set(0, at.type(0), std::move(out));
}

result<void> check_output_size(std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1 || height > largest || width > largest)
    return fail(errc::invalid_argument,
                "an output of 1 to {} rows and columns expected, {}x{} found", largest, height,
                width);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__RoiAlign.html
result<void> infer_roi_align(inference& at) {
  const auto height = at.attributes().integer("output_height", 1);
  const auto width = at.attributes().integer("output_width", 1);
  if (auto good = check_output_size(height, width); !good)
    return good;
  if (auto good = check_images(at, 4); !good)
    return good;
  if (auto good = at.expect_rank(2, 1); !good)
    return good;
  if (at.dims(1) != nullptr && at.dims(2) != nullptr)
    if (auto good = at.expect_size(2, 0, (*at.dims(1))[0]); !good)
      return good;
  set_regions(at, height, width);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html
result<void> infer_max_roi_pool(inference& at) {
  const auto pooled = at.attributes().integers("pooled_shape");
  if (pooled.size() != 2)
    return fail(errc::invalid_argument, "pooled_shape with 2 sizes expected, {} found",
                to_string(pooled));
  if (auto good = check_output_size(pooled[0], pooled[1]); !good)
    return good;
  if (auto good = check_images(at, 5); !good)
    return good;
  set_regions(at, pooled[0], pooled[1]);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__MaxUnpool.html: the reverse of MaxPool, whose output shape
// may be given where it is not the least that fits.
result<void> infer_max_unpool(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr)
    return infer_type_only(at);
  auto kernel = at.attributes().integers("kernel_shape");
  if (data->size() < 3 || kernel.size() + 2 != data->size())
    return fail(errc::invalid_argument, "kernel_shape with {} sizes expected, {} found",
                data->size() - std::min<std::size_t>(data->size(), 2), to_string(kernel));
  auto over = read_window(at, std::move(kernel));
  if (!over)
    return propagate(over);
  symbolic_shape least{(*data)[0], (*data)[1]};
  for (std::size_t axis = 0; axis < over->kernel.size(); ++axis) {
    const auto pads = over->pads[axis] + over->pads[axis + over->kernel.size()];
    auto size = floor_affine((*data)[axis + 2], over->strides[axis],
                             over->kernel[axis] - over->strides[axis] - pads, 1, at.symbols());
    if (!size)
      return propagate(size);
    least.push_back(*size);
  }
  if (!at.has(2)) {
    at.set(0, at.type(0), std::move(least));
    return {};
  }
  auto wanted = at.sizes_in(2);
  if (wanted && wanted->size() != data->size())
    return fail(errc::invalid_argument, "{} sizes expected, {} found", data->size(),
                wanted->size());
  at.set(0, at.type(0), wanted ? std::move(*wanted) : at.unknown(data->size()));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Col2Im.html: [N, C * block, L] to [N, C, image…].
result<void> infer_col2im(inference& at) {
  if (auto good = at.expect_rank(0, 3); !good)
    return good;
  const auto image = at.sizes_in(1);
  const auto block = at.integers(2);
  const auto* data = at.dims(0);
  if (data == nullptr || !image || !block) {
    at.set(0, at.type(0), image ? std::optional{at.unknown(image->size() + 2)} : std::nullopt);
    return {};
  }
  const bool good_block =
      std::ranges::all_of(*block, [](auto size) { return size >= 1 && size <= 1 << 20; });
  if (image->size() != block->size() || block->empty() || block->size() > 3 || !good_block)
    return fail(errc::invalid_argument,
                "an image and a block of one to three axes expected, {} and {} found",
                at.graph_text(*image), to_string(*block));
  const auto taps = checked_element_count(*block);
  if (!taps)
    return propagate(taps);
  if ((*data)[1].known() && (*data)[1].size() % *taps != 0)
    return fail(errc::invalid_argument, "a size in axis 1 divisible by {} expected, {} found",
                *taps, at.graph_text(*data));
  auto channels = floor_affine((*data)[1], 1, 0, *taps, at.symbols());
  if (!channels)
    return propagate(channels);
  symbolic_shape out{(*data)[0], *channels};
  out.insert(out.end(), image->begin(), image->end());
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__DeformConv.html: as Conv, with the bias in input 3.
result<void> infer_deform_conv(inference& at) {
  for (std::size_t input : {1U, 2U, 3U, 4U})
    if (auto good = at.same_type(input); !good)
      return good;
  auto out = conv_dims(at, 0, 1, 3);
  if (!out)
    return propagate(out);
  at.set(0, at.type(0), *std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"AffineGrid", 2, 2, 1, infer_affine_grid},
    infer_entry{"Col2Im", 3, 3, 1, infer_col2im},
    infer_entry{"DeformConv", 3, 5, 1, infer_deform_conv},
    infer_entry{"GridSample", 2, 2, 1, infer_grid_sample},
    infer_entry{"MaxRoiPool", 2, 2, 1, infer_max_roi_pool},
    infer_entry{"MaxUnpool", 2, 3, 1, infer_max_unpool},
    infer_entry{"RoiAlign", 3, 3, 1, infer_roi_align},
};

} // namespace

std::span<const infer_entry> vision_rules() {
  return rules;
}

} // namespace troupe::graph
