#pragma once

// Tensors and requests that the tests of both protocols use.

#include "kernels/tensor/byte_strings.hpp"
#include "protocol/inference.hpp"

#include <string>
#include <vector>

namespace troupe::test {

template <class T>
tensor tensor_of(dtype type, shape dims, const std::vector<T>& values) {
  return {type, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

inline tensor floats(shape dims, const std::vector<float>& values) {
  return tensor_of(dtype::float32, std::move(dims), values);
}

inline protocol::inference_request sample_request() {
  protocol::inference_request request;
  request.model_name = "echo";
  request.id = "label";
  request.parameters = {
      {"flag", true}, {"whole", std::int64_t{-3}}, {"real", 0.5}, {"word", std::string{"hé"}}};
  request.inputs.push_back({"x", floats({1, 4}, {1, 2, 3, 4}), {}});
  request.inputs.push_back(
      {"text", *pack_strings(std::vector<std::string>{"ab", ""}), {{"kind", std::string{"raw"}}}});
  request.inputs.push_back({"none", tensor_of<std::int64_t>(dtype::int64, {0, 2}, {}), {}});
  request.outputs = {{"x", {}}, {"text", {{"classification", std::int64_t{2}}}}};
  return request;
}

/// Asks the echo for so many numbers.
inline protocol::inference_request request_of(std::size_t elements) {
  protocol::inference_request request;
  request.model_name = "echo";
  request.inputs.push_back(
      {"x", floats({static_cast<std::int64_t>(elements)}, std::vector<float>(elements, 1.5f)), {}});
  return request;
}

inline bool same(const tensor& a, const tensor& b) {
  return a.type == b.type && a.dims == b.dims && a.data.size() == b.data.size()
         && std::equal(a.data.view.begin(), a.data.view.end(), b.data.view.begin());
}

} // namespace troupe::test
