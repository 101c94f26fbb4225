#include "kernels/cpu/value_arguments.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <cstring>

namespace troupe::cpu {

result<const tensor*> tensor_in(const value_call& of, std::size_t input) {
  const auto* found = input < of.inputs.size() ? std::get_if<tensor>(&of.inputs[input]) : nullptr;
  if (found == nullptr)
    return fail(errc::invalid_argument, "input {}: a tensor expected, {} found", input,
                of.has(input) ? "a sequence" : "nothing");
  return found;
}

result<const tensor_sequence*> sequence_in(const value_call& of, std::size_t input) {
  const auto* found =
      input < of.inputs.size() ? std::get_if<tensor_sequence>(&of.inputs[input]) : nullptr;
  if (found == nullptr)
    return fail(errc::invalid_argument, "input {}: a sequence expected, {} found", input,
                of.has(input) ? "a tensor" : "nothing");
  return found;
}

result<std::int64_t> integer_in(const value_call& of, std::size_t input) {
  auto from = tensor_in(of, input);
  if (!from)
    return propagate(from);
  auto all = integers_in(**from);
  if (!all)
    return fail(all.error().code, "input {}: {}", input, all.error().text);
  if (all->size() != 1)
    return fail(errc::invalid_argument, "input {}: one element expected, {} found", input,
                all->size());
  return all->front();
}

result<std::vector<std::int64_t>> integers_in(const tensor& from) {
  if (from.type == dtype::int64) {
    const auto all = elements_of<std::int64_t>(from.data);
    return std::vector<std::int64_t>{all.begin(), all.end()};
  }
  if (from.type == dtype::int32) {
    const auto all = elements_of<std::int32_t>(from.data);
    return std::vector<std::int64_t>{all.begin(), all.end()};
  }
  return fail(errc::invalid_argument, "INT64 or INT32 expected, {} found", to_string(from.type));
}

result<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    return fail(errc::invalid_argument, "axis in [{}, {}) expected, {} found", -size, size, axis);
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

tensor make_integers(std::span<const std::int64_t> dims, std::span<const std::int64_t> elements) {
  return make_tensor(dtype::int64, dims, elements);
}

tensor make_scalar(std::int64_t number) {
  return make_integers({}, {&number, 1});
}

tensor make_boolean(bool answer) {
  const std::uint8_t element = answer ? 1 : 0;
  return make_tensor<std::uint8_t>(dtype::boolean, {}, {&element, 1});
}

result<element_runs> element_runs::of(const tensor& from) {
  element_runs made;
  made.data_ = from.data.view;
  if (from.type != dtype::string) {
    made.element_bytes_ = size_of(from.type);
    return made;
  }
  auto elements = unpack_strings(from);
  if (!elements)
    return propagate(elements);
  for (const auto& element : *elements)
    made.offsets_.push_back(static_cast<std::size_t>(
        reinterpret_cast<const std::byte*>(element.data()) - made.data_.data()
        - static_cast<std::ptrdiff_t>(sizeof(std::uint32_t))));
  made.offsets_.push_back(made.data_.size());
  return made;
}

std::span<const std::byte> element_runs::run(std::int64_t first, std::int64_t count) const {
  const auto begin = static_cast<std::size_t>(first);
  const auto size = static_cast<std::size_t>(count);
  if (element_bytes_ > 0)
    return data_.subspan(begin * element_bytes_, size * element_bytes_);
  return data_.subspan(offsets_[begin], offsets_[begin + size] - offsets_[begin]);
}

tensor join_runs(dtype type, std::span<const std::int64_t> dims,
                 std::span<const std::span<const std::byte>> runs) {
  std::size_t total = 0;
  for (const auto& run : runs)
    total += run.size();
  auto block = allocate_aligned(total);
  auto* at = block.get();
  for (const auto& run : runs) {
    if (!run.empty())
      std::memcpy(at, run.data(), run.size());
    at += run.size();
  }
  tensor made{type, {dims.begin(), dims.end()}, {}};
  made.data.view = {block.get(), total};
  made.data.owner = std::move(block);
  return made;
}

} // namespace troupe::cpu
