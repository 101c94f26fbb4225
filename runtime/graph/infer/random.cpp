// Operators that draw random numbers. None of them says how rows flow: what is drawn depends on an
// element's place in the whole tensor.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

// The attribute `dtype`, or `fallback` where it is left out.
result<std::optional<dtype>> named_type(const inference& at, std::optional<dtype> fallback) {
  if (!at.attributes().has("dtype"))
    return fallback;
  const auto named = dtype_of_onnx(at.attributes().integer("dtype", 0));
  if (!named)
    return propagate(named);
  return std::optional{*named};
}

// https://onnx.ai/onnx/operators/onnx__RandomUniform.html
result<void> infer_random(inference& at) {
  const auto type = named_type(at, dtype::float32);
  if (!type)
    return propagate(type);
  const auto sizes = at.attributes().integers("shape");
  if (std::ranges::any_of(sizes, [](auto size) { return size < 0; }))
    return fail(errc::invalid_argument, "sizes of 0 or more expected, {} found", to_string(sizes));
  at.set(0, *type, symbolic_shape{sizes.begin(), sizes.end()});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__RandomUniformLike.html, and Bernoulli's.
result<void> infer_random_like(inference& at) {
  const auto type = named_type(at, at.type(0));
  if (!type)
    return propagate(type);
  const auto* dims = at.dims(0);
  at.set(0, *type, dims == nullptr ? std::nullopt : std::optional{*dims});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Multinomial.html
result<void> infer_multinomial(inference& at) {
  const auto type = named_type(at, dtype::int32);
  if (!type)
    return propagate(type);
  if (auto good = at.expect_rank(0, 2); !good)
    return good;
  const auto samples = at.attributes().integer("sample_size", 1);
  if (samples < 1)
    return fail(errc::invalid_argument, "a sample_size of 1 or more expected, {} found", samples);
  symbolic_shape out{at.symbols().fresh_dim(), samples};
  if (at.dims(0) != nullptr)
    out[0] = (*at.dims(0))[0];
  at.set(0, *type, std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Dropout.html: before opset 12 the data pass, since then they
// do unless input 2 says that the model trains.
result<void> infer_dropout(inference& at) {
  const auto* dims = at.dims(0);
  at.set(1, at.version() < 10 ? at.type(0) : dtype::boolean,
         dims == nullptr ? std::nullopt : std::optional{*dims});
  return infer_same(at);
}

constexpr std::array rules{
    infer_entry{"Bernoulli", 1, 1, 1, infer_random_like},
    infer_entry{"Dropout", 1, 3, 2, infer_dropout},
    infer_entry{"Multinomial", 1, 1, 1, infer_multinomial},
    infer_entry{"RandomNormal", 0, 0, 1, infer_random},
    infer_entry{"RandomNormalLike", 1, 1, 1, infer_random_like},
    infer_entry{"RandomUniform", 0, 0, 1, infer_random},
    infer_entry{"RandomUniformLike", 1, 1, 1, infer_random_like},
};

} // namespace

std::span<const infer_entry> random_rules() {
  return rules;
}

bool draws_random(const node& of) {
  if (of.op_type == "Dropout" && of.inputs.size() < 3)
    return false;
  return of.domain.empty()
         && std::ranges::find(rules, of.op_type, &infer_entry::op_type) != rules.end();
}

} // namespace troupe::graph
