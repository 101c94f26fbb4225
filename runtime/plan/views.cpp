// Operators that move no data. A channels-last tensor stays one through a Squeeze or Unsqueeze of
// its spatial axes, and a Transpose may turn it into a row-major one for free: that is how a
// recogniser's [N,C,1,W] features become the [N,W,C] rows of its sequence model.

#include "runtime/plan/views.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::plan {
namespace {

/// Axes from outermost to innermost in memory; empty for blocked layouts.
small_vector<std::size_t, 6> memory_order(std::size_t rank, layout format) {
  small_vector<std::size_t, 6> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (format == layout::channels_last && rank > 2)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  else if (format != layout::row_major && format != layout::channels_last)
    order.clear();
  return order;
}

/// The sizes that matter in memory order, named by the axis of `names` they belong to.
small_vector<std::size_t, 6> significant(std::span<const std::int64_t> dims, layout format,
                                         std::span<const std::size_t> names) {
  small_vector<std::size_t, 6> kept;
  for (auto axis : memory_order(dims.size(), format))
    if (dims[axis] != 1)
      kept.push_back(names[axis]);
  return kept;
}

bool is_blocked(layout format) {
  return format == layout::blocked8 || format == layout::blocked16;
}

std::optional<layout> view_of_transpose(const graph::node& of, const tensor_desc& input,
                                        std::span<const std::int64_t> output) {
  const auto rank = output.size();
  small_vector<std::size_t, 6> from(rank);
  std::iota(from.begin(), from.end(), std::size_t{0});
  std::ranges::reverse(from);
  if (const auto perm = of.attributes.integers("perm"); perm.size() == rank)
    std::ranges::copy(perm, from.begin());
  small_vector<std::size_t, 6> own(rank);
  std::iota(own.begin(), own.end(), std::size_t{0});
  const auto before = significant(input.dims, input.format, own);
  for (auto format : {layout::row_major, layout::channels_last})
    if ((format == layout::row_major || rank == 3 || rank == 4)
        && significant(output, format, from) == before)
      return format;
  return std::nullopt;
}

/// Axes behind batch and channels are one run of rows in channels-last memory, however they are
/// split.
std::optional<layout> view_of_channels_last(const tensor_desc& input,
                                            std::span<const std::int64_t> output) {
  const bool ranks = output.size() == 3 || output.size() == 4;
  if (!ranks || input.dims[0] != output[0] || input.dims[1] != output[1])
    return std::nullopt;
  return layout::channels_last;
}

} // namespace

bool same_bytes(std::span<const std::int64_t> dims, layout one, layout other) {
  if (one == other)
    return true;
  if (is_blocked(one) || is_blocked(other))
    return false;
  small_vector<std::size_t, 6> own(dims.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  return significant(dims, one, own) == significant(dims, other, own);
}

std::optional<layout> view_layout(const graph::node& of, const tensor_desc& input,
                                  std::span<const std::int64_t> output) {
  if (!of.domain.empty() || !of.post_ops.empty())
    return std::nullopt;
  const bool plain = same_bytes(input.dims, input.format, layout::row_major);
  if (of.op_type == "Identity" || (of.op_type == "Dropout" && of.inputs.size() < 3))
    return input.format;
  if (of.op_type == "Reshape" || of.op_type == "Flatten" || of.op_type == "Squeeze"
      || of.op_type == "Unsqueeze") {
    if (plain)
      return layout::row_major;
    return input.format == layout::channels_last ? view_of_channels_last(input, output)
                                                 : std::nullopt;
  }
  if (of.op_type == "Transpose" && !is_blocked(input.format) && input.dims.size() == output.size())
    return view_of_transpose(of, input, output);
  return std::nullopt;
}

} // namespace troupe::plan
