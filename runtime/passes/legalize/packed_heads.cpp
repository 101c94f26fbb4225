// com.microsoft MultiHeadAttention with queries, keys and values (or keys and values) in one tensor
// [batch, length, heads, 3 (or 2), size] gets them apart.

#include "runtime/passes/legalize/legalizer.hpp"

#include <algorithm>
#include <array>

namespace troupe::passes {

namespace {

bool is_packed(const legalizer& to, std::size_t input) {
  const auto of = to.input(input);
  return of != no_value && to.dims(of) && to.dims(of)->size() == 5;
}

// The parts of input `index`, each with the heads next to each other in its last axis.
result<std::vector<value_id>> parts_of(legalizer& to, const node& of, std::size_t index,
                                       std::int64_t count) {
  const auto& dims = *to.dims(to.input(index));
  if (dims[3] != graph::dim{count})
    return fail(errc::invalid_argument, "input {} with {} in axis 3 expected, another size found",
                index, count);
  const bool known = dims[2].known() && dims[4].known();
  const auto row = known ? dims[2].size() * dims[4].size() : -1;
  node cut;
  cut.name = of.name + "/Split";
  cut.op_type = "Split";
  cut.version = 13;
  cut.attributes = attributes_of({{"axis", std::int64_t{3}}});
  cut.inputs = {to.input(index)};
  for (std::int64_t part = 0; part < count; ++part)
    cut.outputs.push_back(to.fresh(of.name + ":part" + std::to_string(part)));
  auto parts = cut.outputs;
  to.add(std::move(cut));
  for (auto& part : parts)
    part = to.add("Reshape", {part, to.integers({0, 0, row})});
  return parts;
}

result<bool> multi_head_attention(legalizer& to, const node& of) {
  const bool all = is_packed(to, 0);
  if (!all && !is_packed(to, 1))
    return false;
  for (const std::size_t input : {1U, 2U})
    if (to.input(input) != no_value && (all || input == 2))
      return fail(errc::invalid_argument, "no input {} expected beside packed ones, one found",
                  input);
  const auto parts = all ? parts_of(to, of, 0, 3) : parts_of(to, of, 1, 2);
  if (!parts)
    return propagate(parts);
  auto made = of;
  made.inputs.resize(std::max<std::size_t>(made.inputs.size(), 3), no_value);
  std::ranges::copy(*parts, made.inputs.begin() + (all ? 0 : 1));
  to.add(std::move(made));
  return true;
}

constexpr std::array entries{
    legalization_entry{"com.microsoft", "MultiHeadAttention", multi_head_attention},
};

} // namespace

std::span<const legalization_entry> packed_heads_legalizations() {
  return entries;
}

} // namespace troupe::passes
