// Queries, keys and values that one product makes are read where they are: an Attention of the
// domain "troupe" takes its heads out of a tensor [batch, positions, all heads, elements], so that
// what took them apart before is not run. Exports take them apart in two ways:
//
//     Reshape(Split(x)), parts of the last axis                 GPT-2 and what follows it
//     Gather or Squeeze(Split) of Transpose(x), x of 5 axes     timm's vision transformers

#include "runtime/passes/pass.hpp"

#include "runtime/graph/element.hpp"
#include "runtime/passes/match.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::passes {

namespace {

using axes = std::vector<std::int64_t>;

/// Heads [first, first + count) of `from`, once that is [n, m, all, elements] and `perm` says which
/// axis is which.
struct packed_heads {
  value_id from = no_value;
  std::int64_t all = 0;
  std::int64_t elements = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  axes perm;
};

/// Part `index` of those that a node cuts an axis into.
struct part_of {
  value_id whole = no_value;
  std::int64_t axis = 0;
  std::int64_t start = 0; ///< in elements of the axis
};

class matcher {
public:
  explicit matcher(const rewriter& edit) : edit_{edit}, on_{edit.on()} {}

  // What a node reads as [n, m, heads, elements] or any permutation of it.
  std::optional<packed_heads> match(value_id of, const axes& perm) const {
    if (edit_.uses(of) != 1 || edit_.is_output(of))
      return std::nullopt;
    const auto* by = edit_.plain_producer(of);
    if (by == nullptr)
      return std::nullopt;
    if (by->op_type == "Reshape")
      return parts_of_last_axis(*by, perm);
    const auto part = one_of_first_axis(*by);
    return part ? parts_of_five_axes(*part, perm) : std::nullopt;
  }

private:
  std::optional<std::int64_t> known(value_id of, std::size_t axis) const {
    const auto& dims = on_.values[of].dims;
    return dims && axis < dims->size() && (*dims)[axis].known()
               ? std::optional{(*dims)[axis].size()}
               : std::nullopt;
  }
  std::size_t rank(value_id of) const {
    return on_.values[of].dims ? on_.values[of].dims->size() : 0;
  }

  std::optional<packed_heads> parts_of_last_axis(const node& reshape, const axes& perm) const {
    const auto made = reshape.outputs.front();
    const auto count = known(made, 2);
    const auto elements = known(made, 3);
    const auto part = part_by_split(reshape.inputs[0]);
    if (!part || part->axis != 2 || rank(part->whole) != 3 || rank(made) != 4
        || perm != axes{0, 2, 1, 3} || !count || !elements || *elements == 0)
      return std::nullopt;
    const auto& from = *on_.values[part->whole].dims;
    const auto& to = *on_.values[made].dims;
    const auto width = known(part->whole, 2);
    if (from[0] != to[0] || from[1] != to[1] || !width || *width % *elements != 0
        || part->start % *elements != 0)
      return std::nullopt;
    return packed_heads{part->whole, *width / *elements, *elements, part->start / *elements, *count,
                        perm};
  }

  // x [n, m, parts, heads, elements], a part of which is in front after the transpose.
  std::optional<packed_heads> parts_of_five_axes(const part_of& part, const axes& perm) const {
    const auto* transpose = edit_.plain_producer(part.whole, "Transpose");
    if (transpose == nullptr || rank(part.whole) != 5)
      return std::nullopt;
    const auto x = transpose->inputs[0];
    const auto turned = transpose->attributes.integers("perm");
    const auto parts = known(x, 2);
    const auto count = known(x, 3);
    const auto elements = known(x, 4);
    if (turned.size() != 5 || turned[0] != 2 || !parts || !count || !elements)
      return std::nullopt;
    packed_heads found{x, *parts * *count, *elements, part.start * *count, *count, {}};
    for (const auto axis : perm) {
      const auto of_x = turned[static_cast<std::size_t>(axis) + 1];
      found.perm.push_back(of_x > 2 ? of_x - 1 : of_x);
    }
    return found.perm[1] == 2 ? std::optional{found} : std::nullopt;
  }

  std::optional<part_of> part_by_split(value_id of) const {
    const auto by = on_.values[of].producer;
    if (by == no_node || on_.nodes[by].op_type != "Split" || !on_.nodes[by].domain.empty())
      return std::nullopt;
    const auto& split = on_.nodes[by];
    const auto all = static_cast<std::int64_t>(rank(split.inputs[0]));
    const auto axis = split.attributes.integer("axis", 0);
    part_of found{split.inputs[0], axis < 0 ? axis + all : axis, 0};
    for (const auto output : split.outputs) {
      if (output == of)
        return found;
      const auto size =
          output == no_value ? std::nullopt : known(output, static_cast<std::size_t>(found.axis));
      if (!size)
        return std::nullopt;
      found.start += *size;
    }
    return std::nullopt;
  }

  std::optional<part_of> one_of_first_axis(const node& by) const {
    if (by.op_type == "Squeeze" && rank(by.inputs[0]) == 5 && rank(by.outputs.front()) == 4
        && squeezes_first(by)) {
      const auto part = part_by_split(by.inputs[0]);
      return part && part->axis == 0 ? part : std::nullopt;
    }
    if (by.op_type != "Gather" || by.attributes.integer("axis", 0) != 0
        || !on_.is_constant(by.inputs[1]) || rank(by.inputs[0]) != 5)
      return std::nullopt;
    const auto index = graph::integers_of(*on_.values[by.inputs[1]].constant);
    const auto size = known(by.inputs[0], 0);
    if (!index || index->size() != 1 || !size || rank(by.outputs.front()) != 4)
      return std::nullopt;
    return part_of{by.inputs[0], 0, index->front() < 0 ? index->front() + *size : index->front()};
  }

  bool squeezes_first(const node& squeeze) const {
    auto written = std::optional{squeeze.attributes.integers("axes")};
    if (squeeze.inputs.size() > 1 && on_.is_constant(squeeze.inputs[1]))
      written = graph::integers_of(*on_.values[squeeze.inputs[1]].constant);
    return written && written->size() == 1 && (written->front() == 0 || written->front() == -5);
  }

  const rewriter& edit_;
  const graph::graph& on_;
};

// The node that made `of` becomes the Reshape that shows all heads.
void show_all_heads(rewriter& edit, value_id of, const packed_heads& heads) {
  auto& on = edit.on();
  const std::array dims{std::int64_t{0}, std::int64_t{0}, heads.all, heads.elements};
  auto shape = std::make_shared<tensor>();
  shape->type = dtype::int64;
  shape->dims = {4};
  shape->data = copy_of(std::as_bytes(std::span{dims}));
  const auto producer = on.values[of].producer;
  node made{.name = on.nodes[producer].name,
            .domain = "",
            .op_type = "Reshape",
            .version = 13,
            .attributes = {},
            .inputs = {heads.from, edit.add_constant(on.nodes[producer].name + "/heads", shape)},
            .outputs = {},
            .post_ops = {}};
  edit.replace_node(producer, std::move(made));
  const auto& from = *on.values[heads.from].dims;
  on.values[of].dims =
      graph::symbolic_shape{from[0], from[1], graph::dim{heads.all}, graph::dim{heads.elements}};
}

} // namespace

// What is no longer read is left to remove_dead_nodes.
result<std::size_t> read_heads_in_place(graph::graph& on, const pass_context&) {
  constexpr std::array perms{"q_perm", "k_perm", "v_perm"};
  constexpr std::array firsts{"q_head", "k_head", "v_head"};
  rewriter edit{on};
  std::size_t changed = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    if (on.nodes[id].removed || on.nodes[id].domain != "troupe"
        || on.nodes[id].op_type != "Attention" || on.nodes[id].attributes.has("heads"))
      continue;
    std::array<std::optional<packed_heads>, 3> found;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto perm = on.nodes[id].attributes.integers(perms[i]);
      if (perm.size() == 4)
        found[i] = matcher{edit}.match(on.nodes[id].inputs[i], perm);
    }
    // Keys and values say together how many heads they have.
    if (found[1].has_value() != found[2].has_value())
      found[1] = found[2] = std::nullopt;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i])
        continue;
      show_all_heads(edit, on.nodes[id].inputs[i], *found[i]);
      auto& attributes = on.nodes[id].attributes;
      attributes.set(perms[i], found[i]->perm);
      attributes.set(firsts[i], found[i]->first);
      attributes.set(i == 0 ? "heads" : "kv_heads", found[i]->count);
      ++changed;
    }
  }
  return changed;
}

} // namespace troupe::passes
