#include "runtime/graph/infer/product.hpp"

#include <array>

namespace troupe::graph {

namespace {

result<void> check_inner(const inference& at, std::span<const dim> left_dims, dim left,
                         std::span<const dim> right_dims, dim right) {
  if (left.known() && right.known() && left != right)
    return fail(errc::invalid_argument, "equal inner sizes expected, {} and {} found",
                at.graph_text(left_dims), at.graph_text(right_dims));
  return {};
}

} // namespace

result<std::optional<symbolic_shape>> matmul_dims(inference& at, std::size_t left_input,
                                                  std::size_t right_input) {
  const auto* left = at.dims(left_input);
  const auto* right = at.dims(right_input);
  if (left == nullptr || right == nullptr)
    return std::nullopt;
  if (left->empty() || right->empty())
    return fail(errc::invalid_argument, "inputs of rank 1 or more expected, {} and {} found",
                at.graph_text(*left), at.graph_text(*right));
  const auto inner_right = right->size() == 1 ? (*right)[0] : (*right)[right->size() - 2];
  if (auto good = check_inner(at, *left, left->back(), *right, inner_right); !good)
    return propagate(good);
  const auto stack = [](const symbolic_shape& of) {
    return std::span<const dim>{of.data(), of.size() < 2 ? 0 : of.size() - 2};
  };
  auto out = broadcast(stack(*left), stack(*right), at.symbols());
  if (!out)
    return propagate(out);
  if (left->size() > 1)
    out->push_back((*left)[left->size() - 2]);
  if (right->size() > 1)
    out->push_back(right->back());
  return std::optional{*std::move(out)};
}

namespace {

// https://onnx.ai/onnx/operators/onnx__MatMul.html
result<void> infer_matmul(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  auto out = matmul_dims(at, 0, 1);
  if (!out)
    return propagate(out);
  at.set(0, at.type(0), *std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Gemm.html
result<void> infer_gemm(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  const auto* left = at.dims(0);
  const auto* right = at.dims(1);
  if (left == nullptr || right == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  for (std::size_t input = 0; input < 2; ++input)
    if (auto good = at.expect_rank(input, 2); !good)
      return good;
  const auto left_turned = at.attributes().integer("transA", 0) != 0 ? 1U : 0U;
  const auto right_turned = at.attributes().integer("transB", 0) != 0 ? 1U : 0U;
  if (auto good = check_inner(at, *left, (*left)[1 - left_turned], *right, (*right)[right_turned]);
      !good)
    return good;
  symbolic_shape out{(*left)[left_turned], (*right)[1 - right_turned]};
  if (const auto* bias = at.dims(2); bias != nullptr) {
    auto both = broadcast(*bias, out, at.symbols());
    if (!both)
      return propagate(both);
    const auto sizes = concrete(*both);
    if (both->size() > 2 || (sizes && concrete(out) && *sizes != *concrete(out)))
      return fail(errc::invalid_argument, "input 2 that broadcasts into {} expected, {} found",
                  at.graph_text(out), at.graph_text(*bias));
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"Gemm", 2, 3, 1, infer_gemm},
    infer_entry{"MatMul", 2, 2, 1, infer_matmul},
};

} // namespace

std::span<const infer_entry> product_rules() {
  return rules;
}

} // namespace troupe::graph
