#pragma once

// Requests and answers of models that take a text and give one.

#include "actors/troupe.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <string>
#include <vector>

namespace troupe::test {

inline inference_request text_request(const std::string& model, const std::string& text) {
  inference_request request;
  request.model_name = model;
  request.inputs.push_back({"text", *pack_strings(std::vector{text}), {}});
  return request;
}

/// The text of an answer, or its error's.
inline std::string text_of(const response_part& answer) {
  if (!answer)
    return to_string(answer.error());
  return std::string{unpack_strings(answer->outputs.at(0).value)->at(0)};
}

} // namespace troupe::test
