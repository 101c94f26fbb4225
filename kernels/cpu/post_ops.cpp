#include "kernels/cpu/post_ops.hpp"

#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace troupe::cpu {

float apply_post_op(const post_op& step, float x, float operand) noexcept {
  const auto gate = [&] { return std::clamp(step.alpha * x + step.beta, 0.0F, 1.0F); };
  const auto sigmoid = [](float v) { return 1.0F / (1.0F + std::exp(-v)); };
  switch (step.kind) {
    case post_op_kind::relu: return x < 0.0F ? 0.0F : x;
    case post_op_kind::leaky_relu: return x < 0.0F ? step.alpha * x : x;
    case post_op_kind::clip: return std::min(std::max(x, step.alpha), step.beta);
    case post_op_kind::linear: return step.alpha * x + step.beta;
    case post_op_kind::sigmoid: return sigmoid(x);
    case post_op_kind::tanh: return std::tanh(x);
    case post_op_kind::hard_sigmoid: return gate();
    case post_op_kind::hard_swish: return x * gate();
    case post_op_kind::silu: return x * sigmoid(x);
    case post_op_kind::gelu_erf:
      return 0.5F * x * (1.0F + std::erf(x / std::numbers::sqrt2_v<float>));
    case post_op_kind::gelu_tanh: {
      const float inner = std::sqrt(2.0F / std::numbers::pi_v<float>) * (x + 0.044715F * x * x * x);
      return 0.5F * x * (1.0F + std::tanh(inner));
    }
    case post_op_kind::add: return x + operand;
    case post_op_kind::multiply: return x * operand;
  }
  return x;
}

namespace {

bool has_operand(const post_op& step) {
  return step.kind == post_op_kind::add || step.kind == post_op_kind::multiply;
}

} // namespace

tl::expected<post_op_pass, std::string> post_op_pass::make(const kernel_spec& spec) {
  const auto& output = spec.outputs[0];
  if (output.type != dtype::float32)
    return decline("post-ops need a FP32 output, found {}", to_string(output.type));
  std::vector<tensor_desc> operands;
  for (const auto& step : spec.post_ops) {
    if (!has_operand(step))
      continue;
    if (step.operand >= spec.inputs.size() || !spec.inputs[step.operand].present)
      return decline("post-op operand {} is not an input", step.operand);
    const auto& desc = spec.inputs[step.operand].desc;
    if (desc.type != dtype::float32)
      return decline("post-op operand is {}, not FP32", to_string(desc.type));
    operands.push_back(desc);
  }
  auto loops = iterate(output, operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  post_op_pass pass;
  std::vector<program_operand> in_place{{program_operand::output_in_place, output}};
  std::vector<program::part> parts;
  program::append_post_ops(spec, in_place, parts);
  if (auto fast = program::make(output, std::move(in_place), std::move(parts), spec.threads))
    pass.fast_ = *std::move(fast);
  pass.steps_.assign(spec.post_ops.begin(), spec.post_ops.end());
  pass.loops_ = *std::move(loops);
  pass.threads_ = spec.threads;
  return pass;
}

void post_op_pass::run(const kernel_args& args) const {
  if (fast_)
    return fast_->run(args);
  const auto inner = loops_.inner();
  auto* out = args.outputs[0].as<float>();
  parallel_for(threads_, loops_.outer(), inner, [&](std::int64_t begin, std::int64_t end) {
    for_each_row(loops_, begin, end, [&](std::int64_t row, std::span<const std::int64_t> offsets) {
      float* x = out + row * inner;
      std::size_t operand = 0;
      for (const auto& step : steps_) {
        if (has_operand(step)) {
          const float* other = args.inputs[step.operand].as<const float>() + offsets[operand];
          const auto stride = loops_.strides[operand].back();
          for (std::int64_t i = 0; i < inner; ++i)
            x[i] = apply_post_op(step, x[i], other[i * stride]);
          ++operand;
        } else {
          for (std::int64_t i = 0; i < inner; ++i)
            x[i] = apply_post_op(step, x[i], 0.0F);
        }
      }
    });
  });
}

} // namespace troupe::cpu
