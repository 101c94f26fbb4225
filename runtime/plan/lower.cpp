#include "runtime/plan/draft.hpp"
#include "runtime/plan/views.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::plan {
namespace {

bool has_layouts(const tensor_desc& of) {
  return of.dims.size() == 3 || of.dims.size() == 4;
}

class lowering {
public:
  lowering(const graph::graph& of, const known_values& values, const device& on, int threads)
      : graph_{of}, values_{values}, device_{on}, threads_{threads}, current_(of.values.size()),
        reordered_(of.values.size()) {}

  draft run() {
    for (std::uint32_t index = 0; index < graph_.inputs.size(); ++index) {
      const auto id = graph_.inputs[index];
      current_[id] = add_storage(storage::kind::input, index, desc_of(id));
    }
    for (graph::node_id id = 0; id < graph_.nodes.size(); ++id) {
      if (values_.runs[id])
        lower_node(graph_.nodes[id]);
      else if (!graph_.nodes[id].removed)
        ++made_.known;
    }
    for (std::uint32_t index = 0; index < graph_.outputs.size(); ++index)
      lower_output(index);
    return std::move(made_);
  }

private:
  [[nodiscard]] tensor_desc desc_of(graph::value_id id) const {
    const auto& fact = values_.facts[id];
    return {*fact.type, *graph::concrete(*fact.dims), layout::row_major};
  }

  draft_argument add_storage(storage::kind from, std::uint32_t index, const tensor_desc& desc) {
    made_.storages.push_back({from, index, desc.bytes(), storage::none});
    return {static_cast<storage_id>(made_.storages.size() - 1), desc};
  }

  /// Where a value lies; a constant gets its storage when it is first asked for.
  const draft_argument& current(graph::value_id id) {
    auto& at = current_[id];
    if (at.at == no_storage) {
      made_.constants.push_back(values_.facts[id].constant);
      at = add_storage(storage::kind::constant,
                       static_cast<std::uint32_t>(made_.constants.size() - 1), desc_of(id));
    }
    return at;
  }

  /// The value in `format`: as it lies, under another name, or through a Reorder.
  draft_argument in_layout(graph::value_id id, layout format) {
    const auto at = current(id);
    if (at.desc.elements() == 0 || same_bytes(at.desc.dims, at.desc.format, format)) {
      auto renamed = at;
      renamed.desc.format = format;
      return renamed;
    }
    for (const auto& known : reordered_[id])
      if (known.desc.format == format)
        return known;
    auto wanted = at.desc;
    wanted.format = format;
    const auto to = add_storage(storage::kind::produced, 0, wanted);
    made_.steps.push_back({nullptr, "troupe", "Reorder", {at}, {to}, {}});
    reordered_[id].push_back(to);
    return to;
  }

  [[nodiscard]] layout_rule rule_for(const graph::node& of) {
    std::vector<operand> inputs;
    for (auto id : of.inputs)
      inputs.push_back(id == graph::no_value
                           ? operand{}
                           : operand{true, desc_of(id), values_.facts[id].constant});
    std::vector<tensor_desc> outputs;
    small_vector<bool, 4> wanted;
    for (auto id : of.outputs) {
      wanted.push_back(id != graph::no_value);
      outputs.push_back(id == graph::no_value ? tensor_desc{} : desc_of(id));
    }
    return device_.layouts({of.domain, of.op_type, of.version, &of.attributes, inputs, outputs,
                            wanted, of.post_ops, threads_});
  }

  /// The layout a node works in.
  layout layout_for(const graph::node& of) {
    const auto output = of.outputs.empty() ? graph::no_value : of.outputs[0];
    if (output == graph::no_value || !has_layouts(desc_of(output)))
      return layout::row_major;
    switch (rule_for(of)) {
      case layout_rule::row_major_only: break;
      case layout_rule::prefers_channels_last: return layout::channels_last;
      case layout_rule::follows:
        for (auto id : of.inputs)
          if (id != graph::no_value && !values_.facts[id].constant && has_layouts(desc_of(id))) {
            const auto& at = current(id).desc;
            if (!same_bytes(at.dims, at.format, layout::row_major))
              return at.format;
          }
        break;
    }
    return layout::row_major;
  }

  /// Whether input `index` of a node that works in `format` is an activation, which takes that
  /// layout, and not a weight or a parameter.
  [[nodiscard]] bool takes_layout(const graph::node& of, std::size_t index, layout format,
                                  layout_rule rule) {
    const auto desc = desc_of(of.inputs[index]);
    if (format == layout::row_major || !has_layouts(desc)
        || desc.dims.size() != desc_of(of.outputs[0]).dims.size())
      return false;
    const bool operand = std::ranges::any_of(of.post_ops, [&](const post_op& fused) {
      return has_operand(fused) && fused.operand == index;
    });
    return rule == layout_rule::follows || index == 0 || operand;
  }

  static bool has_operand(const post_op& fused) {
    return fused.kind == post_op_kind::add || fused.kind == post_op_kind::multiply;
  }

  void lower_node(const graph::node& of) {
    if (lower_view(of))
      return;
    const auto format = layout_for(of);
    const auto rule = format == layout::row_major ? layout_rule::row_major_only : rule_for(of);
    draft_step step{&of, of.domain, of.op_type, {}, {}, {}};
    for (std::size_t index = 0; index < of.inputs.size(); ++index) {
      const auto id = of.inputs[index];
      if (id == graph::no_value)
        step.inputs.emplace_back();
      else if (takes_layout(of, index, format, rule))
        step.inputs.push_back(in_layout(id, format));
      else
        step.inputs.push_back(in_layout(id, layout::row_major));
    }
    bool writes = false;
    for (auto id : of.outputs) {
      if (id == graph::no_value) {
        step.outputs.emplace_back();
        continue;
      }
      auto desc = desc_of(id);
      if (has_layouts(desc))
        desc.format = format;
      writes = writes || desc.elements() > 0;
      current_[id] = add_storage(storage::kind::produced, 0, desc);
      step.outputs.push_back(current_[id]);
    }
    if (writes) // results without elements need no step
      made_.steps.push_back(std::move(step));
  }

  bool lower_view(const graph::node& of) {
    if (of.inputs.empty() || of.inputs[0] == graph::no_value || of.outputs.empty()
        || of.outputs[0] == graph::no_value)
      return false;
    for (std::size_t index = 1; index < of.outputs.size(); ++index)
      if (of.outputs[index] != graph::no_value)
        return false;
    auto desc = desc_of(of.outputs[0]);
    auto source = current(of.inputs[0]);
    auto format = view_layout(of, source.desc, desc.dims);
    if (!format) { // after a Reorder it may be one
      auto plain = source.desc;
      plain.format = layout::row_major;
      format = view_layout(of, plain, desc.dims);
      if (!format || source.desc.format == layout::row_major || of.op_type == "Transpose")
        return false;
      source = in_layout(of.inputs[0], layout::row_major);
    }
    desc.format = *format;
    current_[of.outputs[0]] = {source.at, desc};
    ++made_.views;
    return true;
  }

  void lower_output(std::uint32_t index) {
    const auto id = graph_.outputs[index];
    made_.outputs.push_back(desc_of(id));
    const auto at = in_layout(id, layout::row_major);
    auto& memory = made_.storages[at.at];
    if (memory.from == storage::kind::produced && memory.output == storage::none) {
      memory.output = index;
      return;
    }
    const auto to = add_storage(storage::kind::produced, 0, made_.outputs.back());
    made_.storages[to.at].output = index;
    if (to.desc.elements() > 0)
      made_.steps.push_back({nullptr, "", "Identity", {at}, {to}, {}});
  }

  const graph::graph& graph_;
  const known_values& values_;
  const device& device_;
  int threads_;
  draft made_;
  std::vector<draft_argument> current_; // by value
  std::vector<std::vector<draft_argument>> reordered_;
};

} // namespace

draft lower(const graph::graph& of, const known_values& values, const device& on, int threads) {
  return lowering{of, values, on, threads}.run();
}

} // namespace troupe::plan
