#include "runtime/passes/pass_gate.hpp"

#include "runtime/graph/infer.hpp"
#include "runtime/graph/subgraphs.hpp"
#include "runtime/graph/verify.hpp"
#include "runtime/passes/pass.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace troupe::passes {

namespace {

// Patterns first: once a step is fused, a pattern that had it inside is not seen any more.
constexpr std::array once{
    pass{"remove_no_ops", remove_no_ops},
    pass{"unfold_qlinear_conv", unfold_qlinear_conv},
    pass{"fold_qdq", fold_qdq},
    pass{"fold_qdq_moves", fold_qdq_moves},
    pass{"fold_qdq_products", fold_qdq_products},
    pass{"fold_qdq_sums", fold_qdq_sums},
    pass{"fold_constants", fold_constants},
    pass{"merge_common_nodes", merge_common_nodes},
    pass{"find_layer_normalization", find_layer_normalization},
    pass{"find_hard_swish", find_hard_swish},
    pass{"find_gelu", find_gelu},
    pass{"fuse_attention", fuse_attention},
    pass{"remove_dead_nodes", remove_dead_nodes}, // others' reading would hide what is read once
    pass{"read_heads_in_place", read_heads_in_place},
    pass{"remove_dead_nodes", remove_dead_nodes},
};

// Each makes room for the others, so they run until none finds anything.
constexpr std::array repeated{
    pass{"fold_batch_normalization", fold_batch_normalization},
    pass{"fold_affine", fold_affine},
    pass{"fuse_silu", fuse_silu},
    pass{"fuse_activations", fuse_activations},
    pass{"fuse_linear", fuse_linear},
    pass{"fuse_operands", fuse_operands},
};

// Of nodes that have their steps.
constexpr std::array last{
    pass{"fuse_squeeze_excite", fuse_squeeze_excite},
    pass{"remove_dead_nodes", remove_dead_nodes},
};

// What the others and the kernels build on: not to be switched off.
constexpr pass before_inference{"drop_unread_outputs", drop_unread_outputs};
constexpr pass always{"legalize", legalize};

constexpr int most_rounds =
    64; // far more than chains are long; every change removes a node or a step

class gate {
public:
  gate(graph::graph& on, const pass_options& options)
      : on_{on}, options_{options}, context_{options.on} {}

  result<std::vector<pass_report>> run_all() {
    if (auto changes = run(before_inference); !changes)
      return propagate(changes);
    if (auto done = graph::infer_all(on_); !done)
      return propagate(done);
    inferred_ = true;
    if (auto changes = run(always); !changes)
      return propagate(changes);
    for (const auto& next : once)
      if (auto changes = run(next); !changes)
        return propagate(changes);
    for (int round = 0; round < most_rounds; ++round) {
      std::size_t changes = 0;
      for (const auto& next : repeated) {
        auto made = run(next);
        if (!made)
          return propagate(made);
        changes += *made;
      }
      if (changes == 0)
        break;
    }
    for (const auto& next : last)
      if (auto changes = run(next); !changes)
        return propagate(changes);
    on_.compact();
    if (auto done = rewrite_subgraphs(); !done)
      return propagate(done);
    return std::move(reports_);
  }

private:
  // What is known around a subgraph is known in it; one that no pass can make sense of stays as it
  // is: a branch that never runs may be wrong.
  result<void> rewrite_subgraphs() {
    for (auto& of : on_.nodes) {
      if (of.subgraphs.empty())
        continue;
      std::vector<graph::fact> inputs;
      for (auto id : of.inputs)
        inputs.push_back(id == graph::no_value ? graph::fact{} : graph::fact_of(on_.values[id]));
      auto typed = graph::type_subgraphs(of, inputs, on_);
      if (!typed)
        return fail(typed.error().code, "node '{}' ({}): {}", of.name, of.op_type,
                    typed.error().text);
      for (std::size_t index = 0; index < typed->size(); ++index) {
        auto rewritten = (*typed)[index].body;
        if (gate{rewritten, options_}.run_all())
          (*typed)[index].body = std::move(rewritten);
        of.subgraphs[index].body =
            std::make_shared<const graph::graph>(std::move((*typed)[index].body));
      }
    }
    return {};
  }

  result<std::size_t> run(const pass& which) {
    auto report = std::ranges::find(reports_, which.name, &pass_report::name);
    if (report == reports_.end())
      report = reports_.insert(report, {.name = std::string{which.name}});
    if (std::ranges::find(options_.disabled, which.name) != options_.disabled.end())
      return 0;
    const auto start = clock_.now();
    auto changes = which.run(on_, context_);
    report->took += clock_.now() - start;
    if (changes && *changes > 0 && options_.verify)
      if (auto good = check(); !good)
        return fail(errc::internal, "pass {} left a bad graph: {}", which.name, good.error().text);
    if (!changes)
      return fail(changes.error().code, "pass {}: {}", which.name, changes.error().text);
    report->changes += *changes;
    return changes;
  }

  // What inference refuses is the model's fault until the model itself passed it.
  result<void> check() {
    if (auto good = graph::verify(on_); !good || !inferred_)
      return good;
    return graph::infer_all(on_);
  }

  graph::graph& on_;
  const pass_options& options_;
  pass_context context_;
  steady_clock_source clock_;
  bool inferred_ = false;
  std::vector<pass_report> reports_;
};

} // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const auto passes :
       {std::span<const pass>{once}, std::span<const pass>{repeated}, std::span<const pass>{last}})
    for (const auto& next : passes)
      if (std::ranges::find(names, next.name) == names.end())
        names.push_back(next.name);
  return names;
}

result<std::vector<pass_report>> run_passes(graph::graph& on, const pass_options& options) {
  const auto known = pass_names();
  for (const auto& name : options.disabled)
    if (std::ranges::find(known, name) == known.end())
      return fail(errc::invalid_argument, "no pass is named '{}': expected one of {}", name,
                  fmt::join(known, ", "));
  return gate{on, options}.run_all();
}

} // namespace troupe::passes
