#pragma once

// KServe's inference request and response as JSON, with the binary data extension: pure functions.

#include "protocol/inference.hpp"
#include "protocol/rest/limits.hpp"
#include "protocol/rest/response.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::protocol::rest {

/// Bytes that must be readable, and may be anything, behind a JSON text that is to be decoded.
inline constexpr std::size_t json_padding = 64;

/// Which outputs the client wants in binary.
struct output_form {
  bool binary = false;
  std::vector<std::pair<std::string, bool>> by_name; ///< outputs that say otherwise
};

/// A request's JSON part. Inputs that travel in binary have no data yet.
struct infer_json {
  inference_request request; ///< without the model's name and version, which the target has
  output_form form;
  std::vector<std::pair<std::size_t, std::uint64_t>> binary; ///< index of input, bytes; in order
  std::uint64_t binary_total = 0;
};

/// Reads a request; `json_padding` bytes behind it are readable. invalid_argument says what is
/// wrong, resource_exhausted that a limit is passed.
[[nodiscard]] result<infer_json> decode_infer(std::string_view json, const limits& bounds);

/// failed_precondition names an output that JSON cannot carry.
[[nodiscard]] result<response> encode_infer(const inference_response& answer,
                                            const output_form& form);

} // namespace troupe::protocol::rest
