#include "kernels/cpu/candidate.hpp"

#include "kernels/cpu/post_ops.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

// A kernel that knows nothing of post-ops, and the pass that follows it.
class with_post_ops final : public kernel {
public:
  with_post_ops(std::shared_ptr<const kernel> first, post_op_pass then, std::size_t own_inputs)
      : first_{std::move(first)}, then_{std::move(then)}, own_inputs_{own_inputs} {}

  std::string name() const override { return first_->name() + "+post_ops"; }
  std::size_t workspace_bytes() const noexcept override { return first_->workspace_bytes(); }
  bool can_overwrite(std::size_t input) const noexcept override {
    return input < own_inputs_ && first_->can_overwrite(input);
  }
  bool reads(std::size_t input) const noexcept override {
    return input >= own_inputs_ || first_->reads(input);
  }
  result<void> launch(stream& on, const kernel_args& args) const override {
    const kernel_args own{args.inputs.first(own_inputs_), args.outputs, args.workspace};
    if (auto launched = first_->launch(on, own); !launched)
      return launched;
    then_.run(args);
    return {};
  }

private:
  std::shared_ptr<const kernel> first_;
  post_op_pass then_;
  std::size_t own_inputs_;
};

made_kernel make_one(const candidate& from, const kernel_spec& spec, weight_cache& weights) {
  if (spec.post_ops.empty() || from.post_ops == post_ops_by::kernel)
    return from.make(spec, weights);
  auto pass = post_op_pass::make(spec);
  if (!pass)
    return tl::unexpected{std::move(pass).error()};
  kernel_spec bare = spec;
  bare.post_ops = {};
  bare.inputs = spec.inputs.first(own_inputs(spec));
  auto first = from.make(bare, weights);
  if (!first)
    return first;
  return std::make_shared<with_post_ops>(*std::move(first), *std::move(pass), bare.inputs.size());
}

} // namespace

std::string label_of(const candidate& which) {
  return fmt::format("{}{}", which.name, which.post_ops == post_ops_by::kernel ? ", fused" : "");
}

result<kernel_choice> choose_from(std::span<const candidate> candidates, const kernel_spec& spec,
                                  weight_cache& weights) {
  const auto needed = least_inputs_of(spec.domain, spec.op_type);
  std::size_t present = 0;
  while (present < std::min(needed, own_inputs(spec)) && spec.inputs[present].present)
    ++present;
  if (spec.outputs.empty() || present < needed)
    return fail(errc::invalid_argument,
                "operator {}: expected {} inputs and an output, found {} and {}", spec.op_type,
                needed, present, spec.outputs.size());
  std::vector<const candidate*> order;
  for (const auto& next : candidates)
    order.push_back(&next);
  if (!spec.prefer.empty())
    std::stable_partition(order.begin(), order.end(),
                          [&](const auto* next) { return label_of(*next) == spec.prefer; });
  kernel_choice choice;
  for (const auto* next : order) {
    auto made = make_one(*next, spec, weights);
    if (made) {
      choice.chosen = *std::move(made);
      choice.candidate = label_of(*next);
      return choice;
    }
    choice.declined.push_back({std::string{next->name}, std::move(made).error()});
  }
  const std::string domain = spec.domain.empty() ? "" : std::string{spec.domain} + ".";
  if (candidates.empty())
    return fail(errc::unimplemented, "operator {}{} has no kernel", domain, spec.op_type);
  std::string reasons;
  for (const auto& declined : choice.declined)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", declined.name, declined.reason);
  return fail(errc::unimplemented, "operator {}{} (opset {}): no kernel takes it ({})", domain,
              spec.op_type, spec.version, reasons);
}

} // namespace troupe::cpu
