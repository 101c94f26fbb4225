#include "apps/ocr/program/exchange.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <utility>
#include <variant>

namespace troupe::ocr {

result<protocol::inference_request> request_for(const std::string& model, std::string file) {
  const std::string files[] = {std::move(file)};
  auto packed = pack_strings(files);
  if (!packed)
    return propagate(std::move(packed));
  protocol::inference_request request;
  request.model_name = model;
  request.inputs.push_back({"image", std::move(*packed), {}});
  return request;
}

result<page_text> text_of(const protocol::inference_response& answer) {
  auto lines = from_outputs(answer.outputs);
  if (!lines)
    return propagate(std::move(lines));
  page_text read{std::move(*lines), {}};
  for (const auto& [name, value] : answer.parameters)
    if (const auto* number = std::get_if<double>(&value); number && name.ends_with("_ms"))
      read.timings_ms[name] = *number;
  return read;
}

} // namespace troupe::ocr
