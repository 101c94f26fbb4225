// What a client may send over REST: the target, and the JSON of an inference request. Whatever
// decodes must also encode as an answer.

#include "protocol/rest/infer_json.hpp"
#include "protocol/rest/target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace rest = troupe::protocol::rest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (auto route = rest::parse_target(text); !route && route.error().text.empty())
    std::abort();

  text.append(rest::json_padding, '"'); // may be anything
  auto read = rest::decode_infer(std::string_view{text}.substr(0, size), {});
  if (!read) {
    if (read.error().text.empty())
      std::abort();
    return 0;
  }
  if (!read->binary.empty())
    return 0; // their data would follow the JSON
  troupe::protocol::inference_response answer;
  answer.outputs = std::move(read->request.inputs);
  (void)rest::encode_infer(answer, read->form);
  return 0;
}
