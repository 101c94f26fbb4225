// ONNX: StringConcat-20, StringSplit-20, Equal-19 on strings.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <string>

namespace troupe::cpu {

namespace {

struct pairs {
  shape dims;
  std::vector<std::string_view> left;
  std::vector<std::string_view> right;
};

/// Element of a broadcast tensor of dims `own` that stands at `position` of `dims`.
std::size_t source_of(std::int64_t position, std::span<const std::int64_t> dims,
                      std::span<const std::int64_t> own) {
  const auto ahead = dims.size() - own.size();
  std::int64_t at = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = own.size(); axis-- > 0;) {
    const auto along = position % dims[ahead + axis];
    position /= dims[ahead + axis];
    at += own[axis] == 1 ? 0 : along * stride;
    stride *= own[axis];
  }
  return static_cast<std::size_t>(at);
}

result<pairs> pair_up(const value_call& of) {
  auto one = tensor_in(of, 0);
  auto other = tensor_in(of, 1);
  if (!one || !other)
    return one ? propagate(other) : propagate(one);
  auto left = unpack_strings(**one);
  auto right = unpack_strings(**other);
  if (!left || !right)
    return left ? propagate(right) : propagate(left);
  const auto& small = (*one)->dims.size() < (*other)->dims.size() ? **one : **other;
  pairs made{(*one)->dims.size() < (*other)->dims.size() ? (*other)->dims : (*one)->dims, {}, {}};
  const auto ahead = made.dims.size() - small.dims.size();
  for (std::size_t axis = 0; axis < small.dims.size(); ++axis) {
    auto& size = made.dims[ahead + axis];
    if (size != small.dims[axis] && size != 1 && small.dims[axis] != 1)
      return fail(errc::invalid_argument, "{} and {} do not broadcast", to_string((*one)->dims),
                  to_string((*other)->dims));
    size = size == 1 ? small.dims[axis] : size;
  }
  auto count = checked_element_count(made.dims);
  if (!count)
    return propagate(count);
  for (std::int64_t at = 0; at < *count; ++at) {
    made.left.push_back((*left)[source_of(at, made.dims, (*one)->dims)]);
    made.right.push_back((*right)[source_of(at, made.dims, (*other)->dims)]);
  }
  return made;
}

result<std::vector<datum>> packed(std::span<const std::string> elements, shape dims) {
  auto made = pack_strings(elements);
  if (!made)
    return propagate(made);
  made->dims = std::move(dims);
  return std::vector<datum>{*std::move(made)};
}

/// At most `most` cuts, unless it is negative.
std::vector<std::string_view> split_at(std::string_view text, std::string_view by,
                                       std::int64_t most) {
  std::vector<std::string_view> parts;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const auto at = text.find(by);
    if (at == std::string_view::npos)
      break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + by.size());
  }
  parts.push_back(text);
  return parts;
}

/// At runs of white space, which also go from both ends.
std::vector<std::string_view> split_words(std::string_view text, std::int64_t most) {
  constexpr std::string_view blank = " \t\n\r\f\v";
  std::vector<std::string_view> parts;
  const auto skip = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  };
  for (skip(); !text.empty(); skip()) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
    const auto end = std::min(text.find_first_of(blank), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

} // namespace

result<std::vector<datum>> run_string_concat(const value_call& of) {
  auto from = pair_up(of);
  if (!from)
    return propagate(from);
  std::vector<std::string> joined;
  for (std::size_t at = 0; at < from->left.size(); ++at)
    joined.push_back(std::string{from->left[at]} + std::string{from->right[at]});
  return packed(joined, std::move(from->dims));
}

result<std::vector<datum>> run_string_equal(const value_call& of) {
  auto from = pair_up(of);
  if (!from)
    return propagate(from);
  std::vector<std::uint8_t> equal;
  for (std::size_t at = 0; at < from->left.size(); ++at)
    equal.push_back(from->left[at] == from->right[at] ? 1 : 0);
  return std::vector<datum>{make_tensor<std::uint8_t>(dtype::boolean, from->dims, equal)};
}

// Rows shorter than the longest end in empty strings; the second output has their lengths.
result<std::vector<datum>> run_string_split(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  auto elements = unpack_strings(**from);
  if (!elements)
    return propagate(elements);
  const auto by = of.attributes.text("delimiter");
  const auto most = of.attributes.integer("maxsplit", -1);
  std::vector<std::vector<std::string_view>> rows;
  std::size_t longest = 0;
  std::vector<std::int64_t> lengths;
  for (auto element : *elements) {
    rows.push_back(by.empty() ? split_words(element, most) : split_at(element, by, most));
    longest = std::max(longest, rows.back().size());
    lengths.push_back(static_cast<std::int64_t>(rows.back().size()));
  }
  auto dims = (*from)->dims;
  dims.push_back(static_cast<std::int64_t>(longest));
  if (auto count = checked_element_count(dims); !count)
    return propagate(count);
  std::vector<std::string> parts;
  for (const auto& row : rows) {
    parts.insert(parts.end(), row.begin(), row.end());
    parts.resize(parts.size() + longest - row.size());
  }
  auto outputs = packed(parts, std::move(dims));
  if (outputs && of.outputs_wanted.size() > 1)
    outputs->emplace_back(make_integers((*from)->dims, lengths));
  return outputs;
}

} // namespace troupe::cpu
