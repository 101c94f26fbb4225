// Attention as exporters write it, for heads in the third axis from the back,
//
//     MatMul(Softmax(steps(MatMul(q, k'))), v)
//
// becomes one operator "Attention" of the domain "troupe" (kernels/cpu/attention/fused_form.hpp).
// The steps are a scale, which may also stand on q or k', then masks that are added or chosen by
// Where. Transposes that bring heads forward or back are read and written through, so that queries
// come from the projection as it lies and the context goes where the next one reads it.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"
#include "runtime/passes/see_heads.hpp"

#include <algorithm>
#include <utility>

namespace troupe::passes {

namespace {

using axes = std::vector<std::int64_t>;

/// What happens to the scores on the way to the softmax, last step first.
struct score_path {
  value_id product = no_value; ///< what the scores are before
  float scale = 1;
  bool scaled = false;
  axes kinds;
  std::vector<float> otherwise;
  std::vector<value_id> operands;

  void add(std::int64_t kind, float value, value_id operand) {
    kinds.push_back(kind);
    otherwise.push_back(value);
    operands.push_back(operand);
  }
};

constexpr std::size_t most_steps = 3;

class matcher {
public:
  explicit matcher(rewriter& edit) : edit_{edit}, on_{edit.on()} {}

  // Rewrites the attention around a softmax.
  bool rewrite(const node& softmax) {
    if (!finds_product(softmax))
      return false;
    const auto path = scores_from(softmax.inputs[0], {});
    const auto* product = path ? edit_.plain_producer(path->product, "MatMul") : nullptr;
    if (product == nullptr || !operands_fit(*path))
      return false;
    auto q = see_through(edit_, product->inputs[0], rank_);
    auto k = see_through(edit_, product->inputs[1], rank_);
    const auto v = see_through(edit_, values_, rank_);
    std::swap(k.perm[rank_ - 1], k.perm[rank_ - 2]);
    if (v.scale != 1 || !fit(q, k, v))
      return false;
    auto last = context_;
    auto out_perm = output_axes(last);
    node made{.name = on_.nodes[last].name,
              .domain = "troupe",
              .op_type = "Attention",
              .version = 1,
              .attributes = {},
              .inputs = {q.base, k.base, v.base},
              .outputs = {},
              .post_ops = {}};
    made.attributes.set("q_perm", q.perm);
    made.attributes.set("k_perm", k.perm);
    made.attributes.set("v_perm", v.perm);
    made.attributes.set("out_perm", std::move(out_perm));
    made.attributes.set("scale", q.scale * k.scale * path->scale);
    made.attributes.set("steps", axes{path->kinds.rbegin(), path->kinds.rend()});
    made.attributes.set("otherwise",
                        std::vector<float>{path->otherwise.rbegin(), path->otherwise.rend()});
    made.attributes.set("zero_if_blind", std::int64_t{blind_gives_zeros_ ? 1 : 0});
    made.inputs.insert(made.inputs.end(), path->operands.rbegin(), path->operands.rend());
    edit_.replace_node(last, std::move(made));
    return true;
  }

private:
  // The product of the softmax of the last axis with the values, and what is between them.
  bool finds_product(const node& softmax) {
    const auto& dims = on_.values[softmax.inputs[0]].dims;
    if (!dims || (dims->size() != 3 && dims->size() != 4)
        || on_.values[softmax.inputs[0]].type != dtype::float32)
      return false;
    rank_ = dims->size();
    const auto last = static_cast<std::int64_t>(rank_) - 1;
    const auto axis = softmax.attributes.integer("axis", softmax.version < 13 ? 1 : -1);
    auto weights = softmax.outputs.front();
    if (axis != -1 && axis != last)
      return false;
    if (const auto kept = zeros_for_nan(weights); kept) {
      weights = *kept;
      blind_gives_zeros_ = true;
    }
    if (edit_.is_output(weights) || edit_.uses(weights) != 1)
      return false;
    context_ = edit_.readers(weights).front();
    const auto& product = on_.nodes[context_];
    if (!product.domain.empty() || product.op_type != "MatMul" || !product.post_ops.empty()
        || product.inputs[0] != weights)
      return false;
    values_ = product.inputs[1];
    return true;
  }

  // Where(IsNaN(x), 0, x), if that is all that reads x.
  std::optional<value_id> zeros_for_nan(value_id x) const {
    if (edit_.is_output(x) || edit_.uses(x) != 2)
      return std::nullopt;
    for (const auto reader : edit_.readers(x)) {
      const auto& choice = on_.nodes[reader];
      if (!choice.domain.empty() || choice.op_type != "Where" || choice.inputs[2] != x
          || scalar_in(on_, choice.inputs[1]) != 0.0F)
        continue;
      const auto* test = edit_.plain_producer(choice.inputs[0], "IsNaN");
      if (test != nullptr && test->inputs[0] == x && edit_.uses(choice.inputs[0]) == 1)
        return choice.outputs.front();
    }
    return std::nullopt;
  }

  // Back from `scores`, which only the path reads, to a product; of two sides of an addition the
  // first that leads to one.
  std::optional<score_path> scores_from(value_id scores, score_path path) const {
    const auto* by = edit_.plain_producer(scores);
    if (by == nullptr || edit_.uses(scores) != 1)
      return std::nullopt;
    if (by->op_type == "MatMul") {
      path.product = scores;
      return path;
    }
    auto x = no_value;
    if (const auto factor = factor_of(on_, *by, x)) {
      path.scale *= *factor;
      path.scaled = true;
      return scores_from(x, std::move(path));
    }
    if (path.scaled || path.kinds.size() == most_steps)
      return std::nullopt; // a step in front of the scale
    if (by->op_type == "Add") {
      for (const std::size_t side : {0U, 1U}) {
        if (on_.values[by->inputs[1 - side]].type != dtype::float32)
          continue;
        auto longer = path;
        longer.add(0, 0, by->inputs[1 - side]);
        if (auto found = scores_from(by->inputs[side], std::move(longer)))
          return found;
      }
      return std::nullopt;
    }
    if (by->op_type == "Where")
      for (const std::size_t side : {1U, 2U}) {
        const auto number = scalar_in(on_, by->inputs[3 - side]);
        if (!number)
          continue;
        path.add(side == 1 ? 1 : 2, *number, by->inputs[0]);
        return scores_from(by->inputs[side], std::move(path));
      }
    return std::nullopt;
  }

  // Whether operands of steps leave the batch and the heads as they are. Queries and keys are left
  // to the operator, which broadcasts as the steps do: causal masks are cut out of constants by
  // bounds that nobody knows.
  bool operands_fit(const score_path& path) const {
    const auto& scores = on_.values[path.product].dims;
    if (!scores || scores->size() != rank_)
      return false;
    return std::ranges::all_of(path.operands, [&](value_id operand) {
      const auto& dims = on_.values[operand].dims;
      if (!dims || dims->size() > rank_)
        return false;
      for (std::size_t axis = 0; axis + 2 < dims->size(); ++axis)
        if ((*dims)[axis] != graph::dim{1}
            && (*dims)[axis] != (*scores)[axis + rank_ - dims->size()])
          return false;
      return true;
    });
  }

  // Sizes of what is seen, as heads; nothing unless all of it is known as far as it must be.
  std::optional<graph::symbolic_shape> sizes(const seen_heads& of) const {
    const auto& dims = on_.values[of.base].dims;
    if (!dims || dims->size() != rank_ || on_.values[of.base].type != dtype::float32)
      return std::nullopt;
    graph::symbolic_shape sorted;
    for (const auto axis : of.perm)
      sorted.push_back((*dims)[static_cast<std::size_t>(axis)]);
    return sorted;
  }

  bool fit(const seen_heads& q, const seen_heads& k, const seen_heads& v) const {
    const auto queries = sizes(q);
    const auto keys = sizes(k);
    const auto values = sizes(v);
    if (!queries || !keys || !values)
      return false;
    const auto last = static_cast<std::int64_t>(rank_) - 1;
    if (q.perm.back() != last || v.perm.back() != last
        || (k.perm.back() != last && k.perm[rank_ - 2] != last))
      return false;
    const auto heads = rank_ - 3;
    // The product took them, so heads of keys that are fewer are broadcast or repeated.
    const auto of_queries = (*queries)[heads];
    const auto of_keys = (*keys)[heads];
    const bool shared = rank_ == 4
                        && (of_keys == graph::dim{1}
                            || (of_keys.known() && of_queries.known() && of_keys.size() > 0
                                && of_queries.size() % of_keys.size() == 0));
    const bool batches =
        rank_ == 3 || ((*queries)[0] == (*keys)[0] && (*queries)[0] == (*values)[0]);
    return batches && of_keys == (*values)[heads] && (shared || of_keys == of_queries)
           && (*keys)[rank_ - 2] == (*values)[rank_ - 2] && keys->back() == queries->back();
  }

  // Where the context goes; `last` becomes the node that the operator stands for.
  axes output_axes(node_id& last) const {
    const auto context = on_.nodes[last].outputs.front();
    auto perm = straight(rank_);
    if (edit_.is_output(context) || edit_.uses(context) != 1)
      return perm;
    const auto reader = edit_.readers(context).front();
    const auto& transpose = on_.nodes[reader];
    if (!transpose.domain.empty() || transpose.op_type != "Transpose"
        || !transpose.post_ops.empty())
      return perm;
    const auto moved = perm_of(transpose, rank_);
    if (moved.back() != perm.back())
      return perm;
    last = reader;
    return moved;
  }

  rewriter& edit_;
  const graph::graph& on_;
  std::size_t rank_ = 0;
  value_id values_ = no_value;
  node_id context_ = 0;
  bool blind_gives_zeros_ = false;
};

} // namespace

// What is no longer read is left to remove_dead_nodes.
result<std::size_t> fuse_attention(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t fused = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (!of.removed && of.domain.empty() && of.op_type == "Softmax" && of.post_ops.empty())
      fused += matcher{edit}.rewrite(on.nodes[id]) ? 1 : 0;
  }
  return fused;
}

} // namespace troupe::passes
