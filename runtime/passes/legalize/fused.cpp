// Operators of com.microsoft that are one operator with more before and behind it.

#include "runtime/passes/legalize/legalizer.hpp"

#include <array>

namespace troupe::passes {

namespace {

constexpr std::string_view contrib = "com.microsoft";

// The last two axes exchanged, or with `batch` the axis in front of a matrix's last moved to the
// front: [..., M, B, K] to [B, ..., M, K].
result<value_id> turned(legalizer& to, value_id of, bool matrix) {
  if (!matrix)
    return of;
  const auto& dims = to.dims(of);
  if (!dims)
    return fail(errc::unimplemented, "the rank of an input that it transposes is not known");
  if (dims->size() < 2)
    return of; // a vector stays as it is
  std::vector<std::int64_t> perm(dims->size());
  for (std::size_t axis = 0; axis < perm.size(); ++axis)
    perm[axis] = static_cast<std::int64_t>(axis);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return to.add("Transpose", {of}, attributes_of({{"perm", perm}}));
}

result<bool> fused_matmul(legalizer& to, const node& of) {
  const auto flag = [&](const char* name) { return of.attributes.integer(name, 0) != 0; };
  if (flag("transBatchA") || flag("transBatchB"))
    return fail(errc::unimplemented, "transBatchA and transBatchB are not supported");
  const auto left = turned(to, to.input(0), flag("transA"));
  const auto right = turned(to, to.input(1), flag("transB"));
  if (!left || !right)
    return left ? propagate(right) : propagate(left);
  const auto alpha = of.attributes.real("alpha", 1.0F);
  if (alpha == 1.0F) {
    to.add("MatMul", {*left, *right}, {}, to.output(0));
    return true;
  }
  const auto type = to.type(to.input(0)).value_or(dtype::float32);
  to.add("Mul", {to.add("MatMul", {*left, *right}), to.scalar(double{alpha}, type)}, {},
         to.output(0));
  return true;
}

// What the activation's parameters are called where it is an operator of its own.
result<value_id> activated(legalizer& to, const node& of, value_id x, const std::string& name,
                           std::span<const float> parameters) {
  const auto named = [&](std::size_t index, const char* called, attribute_map& attributes) {
    if (index < parameters.size())
      attributes.set(called, parameters[index]);
  };
  attribute_map attributes;
  if (name == "Clip") {
    if (parameters.size() != 2)
      return fail(errc::invalid_argument, "2 activation_params expected for Clip, {} found",
                  parameters.size());
    const auto type = to.type(to.input(0)).value_or(dtype::float32);
    return to.add(
        "Clip", {x, to.scalar(double{parameters[0]}, type), to.scalar(double{parameters[1]}, type)},
        {}, to.output(0));
  }
  for (const auto* known :
       {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Softplus", "HardSwish"})
    if (name == known) {
      named(0, "alpha", attributes);
      named(1, "beta", attributes);
      return to.add(name, {x}, std::move(attributes), to.output(0));
    }
  return fail(errc::unimplemented, "activation {} of {} is not supported", name, of.op_type);
}

// Inputs: X, W, B, Z; y = activation(conv(X, W) + B + Z)
result<bool> fused_conv(legalizer& to, const node& of) {
  const auto name = of.attributes.text("activation");
  auto convolution = of.attributes;
  convolution.erase("activation");
  convolution.erase("activation_params");
  const bool adds = to.input(3) != no_value;
  const bool activates = !name.empty();
  auto y = to.add("Conv", {to.input(0), to.input(1), to.input(2)}, std::move(convolution),
                  adds || activates ? no_value : to.output(0));
  if (adds)
    y = to.add("Add", {y, to.input(3)}, {}, activates ? no_value : to.output(0));
  if (!activates)
    return true;
  const auto parameters = of.attributes.get<std::vector<float>>("activation_params", {});
  const auto done = activated(to, of, y, name, parameters);
  return done ? result<bool>{true} : propagate(done);
}

result<bool> fused_gemm(legalizer& to, const node& of) {
  const auto name = of.attributes.text("activation");
  auto product = of.attributes;
  std::vector<float> parameters;
  for (const auto* part : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (const auto* written = product.find<float>(part))
      parameters.push_back(*written);
    product.erase(part);
  }
  product.erase("activation");
  const auto y = to.add("Gemm", {to.input(0), to.input(1), to.input(2)}, std::move(product),
                        name.empty() ? to.output(0) : no_value);
  if (name.empty())
    return true;
  const auto done = activated(to, of, y, name, parameters);
  return done ? result<bool>{true} : propagate(done);
}

constexpr std::array entries{
    legalization_entry{contrib, "FusedConv", fused_conv},
    legalization_entry{contrib, "FusedGemm", fused_gemm},
    legalization_entry{contrib, "FusedMatMul", fused_matmul},
    legalization_entry{contrib, "TransposeMatMul", fused_matmul},
};

} // namespace

std::span<const legalization_entry> fused_legalizations() {
  return entries;
}

} // namespace troupe::passes
