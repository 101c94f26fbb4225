#include "runtime/graph/infer/product.hpp"
#include "runtime/graph/infer/window.hpp"

#include <array>

namespace troupe::graph {

namespace {

// Kernel sizes from the weight [·, ·, k…]; the attribute, if written, must agree.
result<std::vector<std::int64_t>> kernel_of(const inference& at, const symbolic_shape& weight) {
  const auto sizes = concrete(std::span<const dim>{weight}.subspan(2));
  auto written = at.attributes().integers("kernel_shape");
  if (!sizes) {
    if (written.size() + 2 != weight.size())
      return fail(errc::unimplemented, "a weight whose dims are known expected, {} found",
                  at.graph_text(weight));
    return written;
  }
  std::vector<std::int64_t> kernel{sizes->begin(), sizes->end()};
  if (!written.empty() && written != kernel)
    return fail(errc::invalid_argument, "kernel_shape {} expected by the weight, {} found",
                to_string(kernel), to_string(written));
  return kernel;
}

// The data is [N, C, spatial…] and the weight has the same rank.
result<void> check_ranks(const inference& at, std::size_t data_input, std::size_t weight_input,
                         std::size_t bias_input) {
  const auto& data = *at.dims(data_input);
  if (data.size() < 3)
    return fail(errc::invalid_argument, "input {} of rank 3 or more expected, {} found", data_input,
                at.graph_text(data));
  if (auto good = at.expect_rank(weight_input, data.size()); !good)
    return good;
  if (auto good = at.expect_rank(bias_input, 1); !good)
    return good;
  if (at.attributes().integer("group", 1) < 1)
    return fail(errc::invalid_argument, "group of 1 or more expected, {} found",
                at.attributes().integer("group", 1));
  return {};
}

} // namespace

result<std::optional<symbolic_shape>> conv_dims(inference& at, std::size_t data_input,
                                                std::size_t weight_input, std::size_t bias_input) {
  if (at.dims(data_input) == nullptr || at.dims(weight_input) == nullptr)
    return std::nullopt;
  if (auto good = check_ranks(at, data_input, weight_input, bias_input); !good)
    return propagate(good);
  const auto& data = *at.dims(data_input);
  const auto& weight = *at.dims(weight_input);
  const auto group = at.attributes().integer("group", 1);
  if (data[1].known() && weight[1].known() && data[1].size() != weight[1].size() * group)
    return fail(errc::invalid_argument,
                "input {} with {} channels expected by weight {} in {} groups, {} found",
                data_input, weight[1].size() * group, at.graph_text(weight), group,
                at.graph_text(data));
  if (weight[0].known() && weight[0].size() % group != 0)
    return fail(errc::invalid_argument, "output channels divisible by {} groups expected, {} found",
                group, weight[0].size());
  if (auto good = at.expect_size(bias_input, 0, weight[0]); !good)
    return propagate(good);
  auto kernel = kernel_of(at, weight);
  if (!kernel)
    return propagate(kernel);
  auto over = read_window(at, std::move(*kernel));
  if (!over)
    return propagate(over);
  symbolic_shape out{data[0], weight[0]};
  for (std::size_t axis = 0; axis < over->kernel.size(); ++axis) {
    auto size = positions(*over, axis, data[axis + 2], at.symbols());
    if (!size)
      return propagate(size);
    out.push_back(*size);
  }
  return std::optional{std::move(out)};
}

namespace {

// https://onnx.ai/onnx/operators/onnx__Conv.html
result<void> infer_conv(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  auto out = conv_dims(at, 0, 1, 2);
  if (!out)
    return propagate(out);
  at.set(0, at.type(0), *std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
result<dim> transposed_size(inference& at, const window& over, std::size_t axis, dim in) {
  const auto stride = over.strides[axis];
  const auto wanted = at.attributes().integers("output_shape");
  if (!wanted.empty()) {
    const auto from = wanted.size() - over.kernel.size(); // some exporters write N and C too
    if (wanted.size() < over.kernel.size() || wanted[from + axis] < 1)
      return fail(errc::invalid_argument, "output_shape with {} positive sizes expected, {} found",
                  over.kernel.size(), to_string(wanted));
    return dim{wanted[from + axis]};
  }
  if (over.auto_pad.starts_with("SAME"))
    return floor_affine(in, stride, 0, 1, at.symbols());
  auto more = at.attributes().integers("output_padding");
  if (more.empty())
    more.assign(over.kernel.size(), 0);
  if (more.size() != over.kernel.size() || more[axis] < 0
      || more[axis] > stride * over.dilations[axis])
    return fail(errc::invalid_argument,
                "output_padding with {} sizes below the stride expected, {} found",
                over.kernel.size(), to_string(more));
  const auto extent = (over.kernel[axis] - 1) * over.dilations[axis] + 1;
  const bool explicit_pads = over.auto_pad == "NOTSET";
  const auto pads = explicit_pads ? over.pads[axis] + over.pads[axis + over.kernel.size()] : 0;
  return floor_affine(in, stride, more[axis] + extent - pads - stride, 1, at.symbols());
}

result<void> infer_conv_transpose(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  if (at.dims(0) == nullptr || at.dims(1) == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  if (auto good = check_ranks(at, 0, 1, 2); !good)
    return good;
  const auto& data = *at.dims(0);
  const auto& weight = *at.dims(1);
  const auto group = at.attributes().integer("group", 1);
  if (auto good = at.expect_size(1, 0, data[1]); !good)
    return good;
  auto channels = floor_affine(weight[1], group, 0, 1, at.symbols());
  if (!channels)
    return propagate(channels);
  if (auto good = at.expect_size(2, 0, *channels); !good)
    return good;
  auto kernel = kernel_of(at, weight);
  if (!kernel)
    return propagate(kernel);
  auto over = read_window(at, std::move(*kernel));
  if (!over)
    return propagate(over);
  symbolic_shape out{data[0], *channels};
  for (std::size_t axis = 0; axis < over->kernel.size(); ++axis) {
    auto size = transposed_size(at, *over, axis, data[axis + 2]);
    if (!size)
      return propagate(size);
    out.push_back(*size);
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"Conv", 2, 3, 1, infer_conv},
    infer_entry{"ConvTranspose", 2, 3, 1, infer_conv_transpose},
};

} // namespace

std::span<const infer_entry> convolution_rules() {
  return rules;
}

} // namespace troupe::graph
