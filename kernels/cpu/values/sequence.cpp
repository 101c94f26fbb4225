// ONNX: SequenceConstruct-11, SequenceEmpty-11, SequenceAt-11, SequenceInsert-11, SequenceErase-11,
// SequenceLength-11. A position counts from the end where it is negative.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

namespace troupe::cpu {

namespace {

/// Position in [-size, last], counted from the front; `fallback` where the input is left out.
result<std::size_t> position_in(const value_call& of, std::size_t input, std::size_t size,
                                std::int64_t last, std::size_t fallback) {
  if (!of.has(input))
    return fallback;
  auto position = integer_in(of, input);
  if (!position)
    return propagate(position);
  const auto count = static_cast<std::int64_t>(size);
  if (*position < -count || *position > last)
    return fail(errc::invalid_argument, "position in [{}, {}] expected, {} found", -count, last,
                *position);
  return static_cast<std::size_t>(*position < 0 ? *position + count : *position);
}

result<void> check_type(const tensor_sequence& of, const tensor& next) {
  if (of.type == next.type)
    return {};
  return fail(errc::invalid_argument, "the sequence holds {}, but {} came", to_string(of.type),
              to_string(next.type));
}

} // namespace

result<std::vector<datum>> run_sequence_construct(const value_call& of) {
  tensor_sequence made;
  for (std::size_t index = 0; index < of.inputs.size(); ++index) {
    auto next = tensor_in(of, index);
    if (!next)
      return propagate(next);
    if (index == 0)
      made.type = (*next)->type;
    if (auto good = check_type(made, **next); !good)
      return propagate(good);
    made.elements.push_back(**next);
  }
  if (made.elements.empty())
    return fail(errc::invalid_argument, "at least one tensor expected, none found");
  return std::vector<datum>{std::move(made)};
}

result<std::vector<datum>> run_sequence_empty(const value_call& of) {
  if (of.output_types.empty() || !of.output_types[0])
    return fail(errc::invalid_argument, "a dtype expected, none found");
  return std::vector<datum>{tensor_sequence{*of.output_types[0], {}}};
}

result<std::vector<datum>> run_sequence_at(const value_call& of) {
  auto from = sequence_in(of, 0);
  if (!from)
    return propagate(from);
  const auto& elements = (*from)->elements;
  if (!of.has(1))
    return fail(errc::invalid_argument, "a position expected, none found");
  auto at = position_in(of, 1, elements.size(), static_cast<std::int64_t>(elements.size()) - 1, 0);
  if (!at)
    return propagate(at);
  return std::vector<datum>{elements[*at]};
}

result<std::vector<datum>> run_sequence_insert(const value_call& of) {
  auto from = sequence_in(of, 0);
  auto next = tensor_in(of, 1);
  if (!from || !next)
    return from ? propagate(next) : propagate(from);
  auto made = **from;
  if (auto good = check_type(made, **next); !good)
    return propagate(good);
  const auto size = made.elements.size();
  auto at = position_in(of, 2, size, static_cast<std::int64_t>(size), size);
  if (!at)
    return propagate(at);
  made.elements.insert(made.elements.begin() + static_cast<std::ptrdiff_t>(*at), **next);
  return std::vector<datum>{std::move(made)};
}

result<std::vector<datum>> run_sequence_erase(const value_call& of) {
  auto from = sequence_in(of, 0);
  if (!from)
    return propagate(from);
  auto made = **from;
  const auto size = made.elements.size();
  if (size == 0)
    return fail(errc::invalid_argument, "the sequence has no element to erase");
  auto at = position_in(of, 1, size, static_cast<std::int64_t>(size) - 1, size - 1);
  if (!at)
    return propagate(at);
  made.elements.erase(made.elements.begin() + static_cast<std::ptrdiff_t>(*at));
  return std::vector<datum>{std::move(made)};
}

result<std::vector<datum>> run_sequence_length(const value_call& of) {
  auto from = sequence_in(of, 0);
  if (!from)
    return propagate(from);
  return std::vector<datum>{make_scalar(static_cast<std::int64_t>((*from)->elements.size()))};
}

} // namespace troupe::cpu
