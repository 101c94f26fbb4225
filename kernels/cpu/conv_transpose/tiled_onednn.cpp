// A transposed convolution whose kernel equals its stride writes every output once: each input
// position becomes a tile of kernel_h x kernel_w outputs. That is a matrix product, here one per
// row of the input so that its result stays in the cache, and a copy of each tile's rows to their
// place. oneDNN's own deconvolution takes about ten times as long at the few channels of a
// decoder's end.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/threads.hpp"

#include <array>
#include <atomic>
#include <cstring>

namespace troupe::cpu {
namespace {

using namespace onednn;

attempted<memory_desc> no_operand(const tensor_desc&, const tensor_desc&, const memory_desc&) {
  return decline("a tile's channels repeat: no operand lies beside them");
}

// A single output channel makes tiles so narrow that most of a vector would stay empty: then the
// product is taken upright, tile positions as rows and input positions as columns.
bool is_upright(const conv_geometry& conv) {
  return conv.out_channels == 1;
}

// From [channels, out_channels, y, x] to [channels, y, x, out_channels], or upright to [y, x,
// channels].
void permute_weights(const conv_geometry& conv, const float* from, float* to) {
  const auto area = conv.y.kernel * conv.x.kernel;
  if (is_upright(conv)) {
    for (std::int64_t position = 0; position < area; ++position)
      for (std::int64_t c = 0; c < conv.channels; ++c)
        *to++ = from[c * area + position];
    return;
  }
  for (std::int64_t c = 0; c < conv.channels; ++c)
    for (std::int64_t position = 0; position < area; ++position)
      for (std::int64_t out = 0; out < conv.out_channels; ++out)
        *to++ = from[(c * conv.out_channels + out) * area + position];
}

class tiled_conv_transpose final : public kernel {
public:
  struct parts {
    std::string implementation;
    conv_geometry conv;
    dnnl::primitive product; ///< created for one thread
    std::vector<binding> arguments;
    std::size_t scratch_bytes = 0;
    shared_bytes weights;
    shared_bytes bias; ///< repeated for each position of a tile; may be empty
    int threads = 1;
  };

  explicit tiled_conv_transpose(parts made) : parts_{std::move(made)} {
    for (int i = 0; i < parts_.threads; ++i)
      calls_.push_back(std::make_unique<bound_primitive>(parts_.product, parts_.arguments));
  }

  std::string name() const override { return "onednn:tiles:" + parts_.implementation; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(parts_.threads) * bytes_of_member();
  }
  bool reads(std::size_t index) const noexcept override { return index == 0; }

  result<void> launch(stream&, const kernel_args& args) const override {
    const auto& conv = parts_.conv;
    const auto rows = conv.batch * conv.y.input;
    const auto members = static_cast<std::int64_t>(parts_.threads);
    std::atomic<bool> failed = false;
    parallel_for(parts_.threads, members, rows * conv.x.output, [&](auto begin, auto end) {
      for (auto member = begin; member < end; ++member)
        for (auto row = rows * member / members; row < rows * (member + 1) / members; ++row)
          if (!run_row(args, static_cast<std::size_t>(member), row))
            failed = true;
    });
    if (failed)
      return fail(errc::internal, "ConvTranspose: the matrix product of a row failed");
    return {};
  }

private:
  std::int64_t tile_row() const noexcept { return parts_.conv.x.kernel * parts_.conv.out_channels; }
  std::size_t bytes_of_member() const noexcept {
    const auto floats = parts_.conv.x.input * parts_.conv.y.kernel * tile_row();
    const auto bytes = static_cast<std::size_t>(floats) * sizeof(float) + parts_.scratch_bytes;
    return (bytes + tensor_alignment) / tensor_alignment * tensor_alignment;
  }

  bool run_row(const kernel_args& args, std::size_t member, std::int64_t row) const {
    const auto& conv = parts_.conv;
    auto* scratch = args.workspace.data() + member * bytes_of_member();
    auto* tiles = reinterpret_cast<float*>(scratch + parts_.scratch_bytes);
    void* source = args.inputs[0].as<float>() + row * conv.x.input * conv.channels;
    void* weights = const_cast<std::byte*>(parts_.weights.data()); // only read
    void* bias = const_cast<std::byte*>(parts_.bias.data());       // only read
    if (is_upright(conv))
      std::swap(source, weights);
    const std::array<void*, 5> addresses{source, weights, tiles, scratch, bias};
    if (!calls_[member]->run(std::span{addresses}.first(parts_.arguments.size())))
      return false;
    auto* to = args.outputs[0].as<float>() + row * conv.y.kernel * conv.x.input * tile_row();
    if (is_upright(conv))
      lay_out_positions(tiles, to);
    else
      lay_out_tiles(tiles, to);
    return true;
  }

  // From [x, tile row, tile column and channel] to [tile row, x, tile column and channel].
  void lay_out_tiles(const float* tiles, float* to) const {
    const auto height = parts_.conv.y.kernel;
    const auto width = parts_.conv.x.input;
    const auto run = tile_row();
    for (std::int64_t y = 0; y < height; ++y) {
      const auto* from = tiles + y * run;
      for (std::int64_t x = 0; x < width; ++x, to += run, from += height * run) {
        std::int64_t i = 0;
        for (; i + 8 <= run; i += 8)
          std::memcpy(to + i, from + i, 8 * sizeof(float));
        for (; i < run; ++i)
          to[i] = from[i];
      }
    }
  }

  // From [tile row, tile column, x] to [tile row, x, tile column].
  void lay_out_positions(const float* tiles, float* to) const {
    const auto width = parts_.conv.x.input;
    const auto columns = parts_.conv.x.kernel;
    for (std::int64_t y = 0; y < parts_.conv.y.kernel; ++y) {
      if (columns == 2) {
        for (std::int64_t x = 0; x < width; ++x) {
          to[2 * x] = tiles[x];
          to[2 * x + 1] = tiles[width + x];
        }
      } else {
        for (std::int64_t x = 0; x < width; ++x)
          for (std::int64_t i = 0; i < columns; ++i)
            to[x * columns + i] = tiles[i * width + x];
      }
      tiles += columns * width;
      to += columns * width;
    }
  }

  parts parts_;
  std::vector<std::unique_ptr<bound_primitive>> calls_; ///< one for each member of the team
};

bool is_tiling(const conv_geometry& conv) {
  const auto tiles = [](const window_axis& axis) {
    return axis.kernel == axis.stride && axis.dilation == 1
           && axis.output == axis.input * axis.kernel && axis.pad_begin == 0;
  };
  return conv.groups == 1 && tiles(conv.y) && tiles(conv.x);
}

} // namespace

made_kernel make_onednn_tiled_conv_transpose(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, true);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (!is_tiling(*conv))
    return decline("windows overlap, are padded or grouped");
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  if (conv->has_bias && !spec.inputs[2].constant)
    return decline("the bias is not constant");

  const auto columns = conv->y.kernel * conv->x.kernel * conv->out_channels;
  const bool upright = is_upright(*conv);
  const auto positions = conv->x.input;
  const auto left = dense({upright ? columns : positions, conv->channels}, format::ab);
  const auto right =
      dense({conv->channels, upright ? positions : columns}, upright ? format::ba : format::ab);
  const auto out = dense({left.dims()[0], right.dims()[1]}, format::ab);
  const auto bias = dense({1, columns}, format::ab);
  const bool adds_row = conv->has_bias && !upright;
  dnnl::post_ops first;
  if (conv->has_bias && upright)
    append_linear(first, 1.0F, elements_of<float>(spec.inputs[2].constant->data)[0]);
  const auto fused = fuse(spec, first, out, no_operand);
  if (!fused)
    return tl::unexpected{fused.error()};
  const kernel_thread alone{1};
  const auto chosen = attempt([&]() -> dnnl::matmul::primitive_desc {
    const dnnl::matmul::desc desc = adds_row ? dnnl::matmul::desc{left, right, bias, out}
                                             : dnnl::matmul::desc{left, right, out};
    return {desc, fused->attributes, cpu_engine()};
  });
  if (!chosen)
    return tl::unexpected{chosen.error()};
  if (is_reference(chosen->impl_info_str()))
    return decline("oneDNN only has {}", chosen->impl_info_str());

  auto packed = weights.find_or_pack(
      spec.inputs[1].constant, "tiles", spec.inputs[1].constant->data.size(),
      [&](std::span<std::byte> to) -> result<void> {
        permute_weights(*conv, elements_of<float>(spec.inputs[1].constant->data).data(),
                        reinterpret_cast<float*>(to.data()));
        return {};
      });
  if (!packed)
    return tl::unexpected{packed.error().text};
  shared_bytes repeated;
  if (adds_row) {
    auto made = weights.find_or_pack(spec.inputs[2].constant, fmt::format("repeated:{}", columns),
                                     bias.get_size(), [&](std::span<std::byte> to) -> result<void> {
                                       const auto& once = spec.inputs[2].constant->data;
                                       for (std::size_t at = 0; at < to.size(); at += once.size())
                                         std::memcpy(to.data() + at, once.data(), once.size());
                                       return {};
                                     });
    if (!made)
      return tl::unexpected{made.error().text};
    repeated = *std::move(made);
  }
  std::vector<binding> arguments{{DNNL_ARG_SRC, left},
                                 {DNNL_ARG_WEIGHTS, right},
                                 {DNNL_ARG_DST, out},
                                 {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc()}};
  if (adds_row)
    arguments.push_back({DNNL_ARG_BIAS, bias});
  const auto scratch = (chosen->scratchpad_desc().get_size() + tensor_alignment - 1)
                       / tensor_alignment * tensor_alignment;
  return std::make_shared<tiled_conv_transpose>(tiled_conv_transpose::parts{
      chosen->impl_info_str(), *conv, dnnl::matmul{*chosen}, std::move(arguments), scratch,
      *std::move(packed), std::move(repeated), spec.threads});
}

} // namespace troupe::cpu
